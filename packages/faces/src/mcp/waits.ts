import type { Json } from '../json.ts';
import { printable } from '../printable.ts';
import type { TranscriptItem } from '../transcript.ts';

type NoteItem = Extract<TranscriptItem, { kind: 'note' }>;

/** A time, a message or a called run that a run waits for. */
export interface McpWait {
  /** `timer`, `signal` or `run`. */
  readonly kind: string;
  readonly name: string;
  /** When the wait ends at the latest. */
  readonly until: string | undefined;
}

/** How many waits the text names, and how many characters of each name: the model needs no more to explain them. */
const namedMax = 5;
const nameCharactersMax = 100;

/** The open waits of a run, the oldest first. */
export class OpenWaits {
  readonly #open = new Map<string, McpWait>();

  get all(): readonly McpWait[] {
    return [...this.#open.values()];
  }

  take({ type, data }: Pick<NoteItem, 'type' | 'data'>): void {
    const { wait_id: id, kind, name, until } = data;
    if (typeof id !== 'string') return;
    if (type === 'wait_ended') this.#open.delete(id);
    if (type === 'wait_started') {
      this.#open.set(id, { kind: textOf(kind), name: textOf(name), until: timeOf(until) });
    }
  }
}

/** Says what a run waits for, by the names that its agent gave; empty if it works. */
export function waitsText(waits: readonly McpWait[]): string {
  if (waits.length === 0) return '';
  const more = waits.length > namedMax ? [`for ${waits.length - namedMax} more`] : [];
  return `The agent waits ${[...waits.slice(0, namedMax).map(waitText), ...more].join('; ')}.`;
}

function waitText({ kind, name, until }: McpWait): string {
  const shown = `"${shortened(printable(name).replaceAll(/\s+/g, ' '))}"`;
  if (kind === 'timer') return until === undefined ? `for ${shown}` : `until ${until} for ${shown}`;
  const what = kind === 'run' ? `a run of ${shown}` : `the message ${shown}`;
  return until === undefined ? `for ${what}` : `for ${what}, until ${until} at the latest`;
}

function shortened(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= nameCharactersMax) return name;
  return `${characters.slice(0, nameCharactersMax).join('')}…`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** To the minute, as people read it: `2026-01-02 03:04 UTC`. */
function timeOf(value: Json | undefined): string | undefined {
  const minute = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.exec(textOf(value))?.[0];
  return minute === undefined ? undefined : `${minute.replace('T', ' ')} UTC`;
}
