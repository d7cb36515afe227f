import { LegFailure } from '../leg-failure.ts';
import type { CallGate } from './call-gate.ts';
import { type ClaudeMessage, toolResultsIn } from './messages.ts';
import type { MessageTranslator } from './message-translator.ts';
import type { PermissionHook } from './permission-hook.ts';
import { toolNameOf } from './settings.ts';

export interface CallRecords {
  readonly permissionHook: PermissionHook;
  readonly translator: MessageTranslator;
  readonly gate: CallGate;
}

/** Fails the run when Claude made a call without the permission hook that the rules do not simply allow. */
export async function refuseUnasked(
  message: Extract<ClaudeMessage, { type: 'user' }>,
  { permissionHook, translator, gate }: CallRecords,
): Promise<void> {
  for (const { tool_use_id: id } of toolResultsIn(message)) {
    const name = translator.nameOf(id);
    if (name === undefined || permissionHook.hasDecided(id)) continue;
    // Without its input, what cannot be compared counts as forbidden.
    const { kind } = await gate.decide({ id, name, input: {} });
    if (kind !== 'ask' && kind !== 'denied') continue;
    const settings = 'settings in its session folder may have allowed it';
    throw new LegFailure(
      'agent_error',
      `Claude used ${toolNameOf(name)} without asking; ${settings}.`,
    );
  }
}
