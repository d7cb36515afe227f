import { z } from 'zod';
import type { Json } from '../../domain/json.ts';

/**
 * Checkpoint: the id of the agent's own session, which is stored in HOME, and the last run that used it. A warm process
 * can be reused only if it served that run.
 */
const stateSchema = z.strictObject({ session: z.string(), run: z.string() });
export type AcpState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): AcpState | undefined {
  return stateSchema.safeParse(state).data;
}
