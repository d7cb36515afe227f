import { dirname } from 'node:path';
import type { LegContext } from '../../ports/harness.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import type { SpawnCall } from './options.ts';
import { ClaudeProcess } from './process.ts';
import type { ClaudeSettings } from './settings.ts';

export interface ClaudePlace {
  readonly context: Pick<LegContext, 'sessionFolder' | 'stateDir' | 'agent'>;
  /** With references to secrets resolved. */
  readonly settings: ClaudeSettings;
  /** Path of the script that removes secrets from the environment of commands. */
  readonly unsetScript: string;
}

/** Starts Claude's program in the sandbox, when its SDK asks for it. */
export function spawnClaude(
  sandbox: Sandbox,
  { command, args, env }: SpawnCall,
  { context, settings, unsetScript }: ClaudePlace,
): ClaudeProcess {
  const { sessionFolder, stateDir, agent } = context;
  const given = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  return new ClaudeProcess(() =>
    sandbox.spawn([command, ...args], {
      ...settings.sandbox,
      sessionFolder,
      home: stateDir,
      folder: agent.folder,
      readOnly: [dirname(command), unsetScript],
      env: Object.fromEntries(given),
      limits: settings.limits,
    }),
  );
}
