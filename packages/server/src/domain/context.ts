import type { JsonObject } from './json.ts';
import type { RunEventDraft } from './run/run-event.ts';

/** Digests of the context files that the session has announced, by path. */
export type KnownContext = Readonly<Record<string, string>>;

export interface ContextFile {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface LoadedContext {
  readonly contextFiles: readonly ContextFile[];
  readonly claudeMd?: ContextFile;
  readonly skills?: SkillsReport;
}

/** The texts that were announced, for a harness that puts them into the prompt itself. */
export interface ContextTexts {
  /** Context files in the order of `agent.yaml`, then CLAUDE.md. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** `text` is the whole SKILL.md. */
  readonly skills: readonly (SkillsReport['skills'][number] & { readonly text: string })[];
}

export interface SkillsReport {
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly path: string;
  }[];
  readonly warnings: readonly { readonly directory: string; readonly reason: string }[];
}

/**
 * Events that announce a leg's context (spec §6). The first leg of a run announces all of it, a later leg
 * only what changed while the run was parked.
 */
export function contextEvents(
  loaded: LoadedContext,
  { known, isFirstLeg }: { readonly known: KnownContext; readonly isFirstLeg: boolean },
): { readonly events: readonly RunEventDraft[]; readonly known: KnownContext } {
  const events: RunEventDraft[] = [];
  const next: Record<string, string> = {};
  const announce = (family: 'context_file' | 'claude_md', file: ContextFile) => {
    const key = `${family}:${file.path}`;
    const previous = known[key];
    next[key] = file.sha256;
    const data: JsonObject = { path: file.path, sha256: file.sha256, size_bytes: file.sizeBytes };
    if (previous !== undefined && previous !== file.sha256) {
      events.push({ type: `${family}_changed`, data: { ...data, previous_sha256: previous } });
    } else if (isFirstLeg || previous === undefined) {
      events.push({ type: `${family}_loaded`, data });
    }
  };
  for (const file of loaded.contextFiles) announce('context_file', file);
  if (loaded.claudeMd !== undefined) announce('claude_md', loaded.claudeMd);
  if (loaded.skills !== undefined && isFirstLeg) {
    const { skills, warnings } = loaded.skills;
    events.push({ type: 'agent_skills_loaded', data: { skills, warnings } });
  }
  return { events, known: next };
}
