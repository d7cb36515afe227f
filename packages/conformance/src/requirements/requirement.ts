/** Whether an implementation has to (`must`), is expected to (`should`) or may (`optional`) do it. */
export type Level = 'must' | 'should' | 'optional';

/** How it can be checked: by requests, by a restart of the server, or not by a client at all. */
export type Visibility = 'black-box' | 'restart' | 'no';

/** One sentence that binds an implementation (D-227). */
export interface Requirement {
  readonly id: string;
  /** The section of the specification; `convoke` for what Convoke decided where the specification is silent. */
  readonly section: string;
  readonly text: string;
  readonly level: Level;
  readonly visible: Visibility;
  /** Why a client cannot see it. */
  readonly reason?: string;
}

export function must(id: string, text: string): Requirement {
  return { id, section: sectionOf(id), text, level: 'must', visible: 'black-box' };
}

export function should(id: string, text: string): Requirement {
  return { ...must(id, text), level: 'should' };
}

export function optional(id: string, text: string): Requirement {
  return { ...must(id, text), level: 'optional' };
}

export function afterRestart(id: string, text: string): Requirement {
  return { ...must(id, text), visible: 'restart' };
}

export function invisible(id: string, text: string, reason: string): Requirement {
  return { ...must(id, text), visible: 'no', reason };
}

function sectionOf(id: string): string {
  return id.slice(0, id.indexOf('-'));
}
