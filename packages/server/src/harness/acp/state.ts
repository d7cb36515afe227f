import { z } from 'zod';
import type { Json } from '../../domain/json.ts';

/**
 * What a checkpoint holds: the agent's own session, which lives in the HOME of ours, and the run that
 * spoke to it last. A process that is kept warm is of use only if it is the one that heard that run.
 */
const stateSchema = z.strictObject({ session: z.string(), run: z.string() });
export type AcpState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for what another framework left behind. */
export function stateOf(state: Json | undefined): AcpState | undefined {
  return stateSchema.safeParse(state).data;
}
