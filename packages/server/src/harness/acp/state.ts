import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import { parkedRequest } from '../parked-requests.ts';
import { knownCost } from './session-cost.ts';

const knownCall = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.enum(['done', 'not done', 'unknown']),
  /** Its name in the ledger, if the agent asked for permission. */
  ref: z.string().exactOptional(),
});
/** A call of the agent, as its own reports describe it. */
export type ReportedCall = z.infer<typeof knownCall>;

const progress = z.strictObject({
  /** Requests for permission and to a person in this run. */
  requests: z.int(),
  calls: z.array(knownCall),
  /** Requests that wait for a person, or whose answer the agent has not got. */
  asked: z.array(parkedRequest).default([]),
  /** The end of the agent's text, if it was handed over. */
  said: z.string().exactOptional(),
});
/** The state of the run that a leg needs to resume. */
export type Progress = z.infer<typeof progress>;

export const noProgress: Progress = { requests: 0, calls: [], asked: [] };

/**
 * Checkpoint: the id of the agent's own session, which is stored in HOME, and the last run that used it. A warm process
 * can be reused only if it served that run.
 */
const stateSchema = z.strictObject({
  session: z.string(),
  run: z.string(),
  /** Absent once the run has ended. */
  progress: progress.exactOptional(),
  /** Absent while the agent has named none. */
  cost: knownCost.exactOptional(),
});
export type AcpState = z.infer<typeof stateSchema>;

/** `undefined` for a new conversation, and for a checkpoint of another framework. */
export function stateOf(state: Json | undefined): AcpState | undefined {
  return stateSchema.safeParse(state).data;
}
