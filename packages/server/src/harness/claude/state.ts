import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import { parkedRequest } from '../parked-requests.ts';
import { parsedObject } from '../parsed-json.ts';

const deferred = z.strictObject({
  run: z.string(),
  id: z.string(),
  name: z.string(),
  input: parsedObject,
  /** Deferred because its server was stopping, not to ask a person. */
  isHandedOver: z.literal(true).exactOptional(),
});
export type Deferred = z.infer<typeof deferred>;

const progress = z.strictObject({
  /** Absent in checkpoints of the release before. */
  run: z.string().exactOptional(),
  /** Requests that wait for a person in Claude's process, or whose answer it has not got. */
  asked: z.array(parkedRequest),
  /** The end of what Claude said, if it was handed over. Absent after a loss. */
  said: z.string().exactOptional(),
  /** Claude's session began in this run. */
  isNewSession: z.literal(true).exactOptional(),
});
/** The progress that a leg needs to resume. */
export type Progress = z.infer<typeof progress>;

/**
 * Checkpoint: the id of Claude's own session, which is stored in HOME, the deferred call, and what a leg that resumes
 * has to know; `progress` is absent once the run has ended.
 */
const stateSchema = z.strictObject({
  session: z.string(),
  deferred: deferred.nullable(),
  progress: progress.exactOptional(),
});
export type ClaudeState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): ClaudeState | undefined {
  return stateSchema.safeParse(state).data;
}
