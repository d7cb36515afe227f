import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { processSettings } from '../../agents/process-settings.ts';
import type { DeclaredAgent, ReadSettings } from '../../ports/harness.ts';
import type { StdioSettings } from '../stdio/settings.ts';

/** The settings of an agent as code. */
export interface CodeSettings extends StdioSettings {
  /** The file that exports the agent, in the agent's folder. */
  readonly entry: string;
  /** How long its process is kept for the session's next leg; 0 for a new process in every leg. */
  readonly keepSeconds: number;
}

/** The first of these that exists is the agent. */
const entries = ['agent.ts', 'agent.mjs', 'agent.js', 'agent.py'];

export function readCode({ declared, folder }: DeclaredAgent): ReadSettings<CodeSettings> {
  const refuse = (path: readonly string[], message: string) =>
    ({ ok: false, problems: [{ path, message }] }) as const;
  if (declared.command.length > 0) {
    return refuse(['command'], 'must be removed: the file that "entry" names is started');
  }
  const entry = declared.entry ?? entries.find((name) => existsSync(join(folder, name)));
  if (entry === undefined) {
    const message = `has no file to run: write agent.ts or agent.py beside agent.yaml, or name another one with "entry"`;
    return refuse(['framework'], message);
  }
  if (!/\.(ts|mts|mjs|js|py)$/.test(entry)) {
    return refuse(['entry'], 'must be a .ts, .mts, .mjs, .js or .py file');
  }
  if (!existsSync(join(folder, entry))) {
    return refuse(['entry'], "names a file that does not exist in the agent's folder");
  }
  const { instructions, tools, asksUser, stepsMax } = declared;
  const passedOn = { ...processSettings(declared), instructions, tools, asksUser, stepsMax };
  const { keepSeconds } = declared.code;
  return { ok: true, settings: { ...passedOn, entry, keepSeconds } };
}
