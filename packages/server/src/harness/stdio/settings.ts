import {
  type ProcessSettings,
  commandProblems,
  processSettings,
} from '../../agents/process-settings.ts';
import type { DeclaredAgent, FrameworkKeys, ReadSettings } from '../../ports/harness.ts';

/** The command of the program, and the settings that the start message passes on. */
export interface StdioSettings
  extends ProcessSettings,
    Pick<FrameworkKeys, 'instructions' | 'tools' | 'asksUser' | 'stepsMax'> {}

export function readStdio({ declared }: DeclaredAgent): ReadSettings<StdioSettings> {
  const problems = commandProblems(declared);
  if (problems.length > 0) return { ok: false, problems };
  const { instructions, tools, asksUser, stepsMax } = declared;
  return {
    ok: true,
    settings: { ...processSettings(declared), instructions, tools, asksUser, stepsMax },
  };
}
