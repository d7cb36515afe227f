import { z } from 'zod';
import type { Json } from '../../domain/json.ts';

const knownCall = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.enum(['done', 'not done', 'unknown']),
});
/** A call of the agent, as far as its own reports tell. */
export type ReportedCall = z.infer<typeof knownCall>;

const progress = z.strictObject({
  /** Requests to a person in this run. */
  requests: z.int(),
  calls: z.array(knownCall),
});
/** What a leg that goes on after a loss has to know of the run. */
export type Progress = z.infer<typeof progress>;

/**
 * Checkpoint: the id of the agent's own session, which is stored in HOME, and the last run that used it. A warm process
 * can be reused only if it served that run.
 */
const stateSchema = z.strictObject({
  session: z.string(),
  run: z.string(),
  /** Absent once the run has ended. */
  progress: progress.exactOptional(),
});
export type AcpState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): AcpState | undefined {
  return stateSchema.safeParse(state).data;
}
