import { z } from 'zod';
import type { Json } from '../../domain/json.ts';

const deferred = z.strictObject({
  run: z.string(),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.json()),
});
export type Deferred = z.infer<typeof deferred>;

/** Checkpoint: the id of Claude's own session, which is stored in HOME, and the deferred call. */
const stateSchema = z.strictObject({ session: z.string(), deferred: deferred.nullable() });
export type ClaudeState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): ClaudeState | undefined {
  return stateSchema.safeParse(state).data;
}
