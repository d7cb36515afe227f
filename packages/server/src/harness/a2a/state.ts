import { z } from 'zod';
import type { Json } from '../../domain/json.ts';

const waiting = z.strictObject({
  run: z.string(),
  task: z.string(),
  /** Counts the questions of a run. */
  number: z.int(),
  /** What the question is told by when it comes again. */
  asked: z.string(),
  /** How many characters of each artifact were told. */
  told: z.record(z.string(), z.int()),
});
export type Waiting = z.infer<typeof waiting>;

/** What a checkpoint holds: the remote conversation, and the task of it that waits for an answer. */
const stateSchema = z.strictObject({ context: z.string(), waiting: waiting.nullable() });
export type A2aState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for what another framework left behind. */
export function stateOf(state: Json | undefined): A2aState | undefined {
  return stateSchema.safeParse(state).data;
}
