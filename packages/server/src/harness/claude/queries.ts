import type { Redact } from '../../agents/secret-references.ts';
import type { LegContext } from '../../ports/harness.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { resolveEquipment } from '../resolve-equipment.ts';
import { hideSecrets, writeUnsetScript } from './hide-secrets.ts';
import { queryOptions } from './options.ts';
import type { PermissionHook } from './permission-hook.ts';
import type { ClaudeProcess } from './process.ts';
import type { ClaudeSdk, Query } from './sdk.ts';
import type { ClaudeSettings } from './settings.ts';
import { spawnClaude } from './spawn.ts';

export interface QueriesParts {
  readonly load: () => Promise<ClaudeSdk>;
  readonly sandbox: Sandbox;
  readonly context: LegContext<ClaudeSettings>;
  readonly permissionHook: PermissionHook;
  readonly abort: AbortController;
  readonly onSpawn: (process: ClaudeProcess) => void;
}

export interface Queries {
  /** Removes the agent's secrets from a text. */
  readonly redact: Redact;
  /** Starts a process of Claude; without `session` it begins a new one. */
  start(prompt: AsyncIterable<unknown>, session: string | undefined): Query;
}

/** Resolves what every process of a leg needs: the SDK, secrets, servers and the environment. */
export async function prepareQueries(parts: QueriesParts): Promise<Queries> {
  const { load, sandbox, context, permissionHook, abort, onSpawn } = parts;
  const { settings: given, stateDir } = context;
  const sdk = await load();
  const { redact, ...equipment } = await resolveEquipment(given, context.connections);
  const { env, mcpServers, secretNames } = hideSecrets(given, equipment);
  const unsetScript = await writeUnsetScript(stateDir, secretNames);
  const settings = { ...given, mcpServers, env: { ...env, CLAUDE_ENV_FILE: unsetScript } };
  return {
    redact,
    start(prompt, session) {
      const spawn: Parameters<typeof queryOptions>[0]['spawn'] = (call) => {
        const process = spawnClaude(sandbox, call, { context, unsetScript, settings });
        onSpawn(process);
        return process;
      };
      const options = queryOptions({ context, settings, permissionHook, session, abort, spawn });
      return sdk.query({ prompt, options });
    },
  };
}
