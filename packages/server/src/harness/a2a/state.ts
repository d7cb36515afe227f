import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import { parsedJson } from '../parsed-json.ts';

const waiting = z.strictObject({
  run: z.string(),
  task: z.string(),
  /** Counts the questions of a run. */
  number: z.int(),
  /** Identifies the question when the agent repeats it. */
  asked: z.string(),
  /** Characters emitted of each artifact. The key is part of stored checkpoints. */
  told: z.record(z.string(), z.int()),
});
export type Waiting = z.infer<typeof waiting>;

const followed = z.strictObject({
  run: z.string(),
  /** Empty when the agent answered with a message, without a task. */
  task: z.string(),
  /** Counts the messages to the agent in this run. */
  message: z.int(),
  /** Identifies the question that was answered last. */
  asked: z.string(),
  told: z.record(z.string(), z.int()),
  /** Whether the agent has said something since that message. */
  hasText: z.boolean(),
  /** Whether the answer is complete. */
  isDone: z.boolean(),
  /** The output, once the answer is complete. */
  output: parsedJson.exactOptional(),
});
export type FollowedTask = z.infer<typeof followed>;

/** Checkpoint: the remote conversation, and its task that waits for an answer or is still followed. */
const stateSchema = z.strictObject({
  context: z.string(),
  waiting: waiting.nullable(),
  followed: followed.exactOptional(),
});
export type A2aState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): A2aState | undefined {
  return stateSchema.safeParse(state).data;
}
