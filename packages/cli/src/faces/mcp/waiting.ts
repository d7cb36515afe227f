import type { Convoke, InteractionRecord, RunEvent, RunHandle, RunRecord } from '@convoke/sdk';
import { RunText } from '@convoke/faces';
import { patiently } from '../patience.ts';
import type { RunState } from './results.ts';

/** How often a client that asked for it hears that the call continues (D-218). */
const progressMs = 5000;

export interface Waiting {
  readonly convoke: Convoke;
  readonly waitMs: number;
  /** Aborted when the client cancels the call: the waiting ends, and the run continues. */
  readonly signal: AbortSignal;
  /** Called every few seconds with how often it was called. */
  readonly progress: (count: number) => void;
}

/** Waits until the run has ended, needs a person, or `waitMs` have passed. */
export async function waitFor(run: RunHandle, waiting: Waiting): Promise<RunState> {
  const { waitMs, signal } = waiting;
  const limit = AbortSignal.timeout(waitMs);
  let count = 0;
  const timer = setInterval(() => waiting.progress(++count), progressMs);
  const joined = new RunText();
  try {
    return await nextState(run, joined, { ...waiting, signal: AbortSignal.any([signal, limit]) });
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    return { record: await read(run, signal), text: joined.text, asks: [] };
  } finally {
    clearInterval(timer);
  }
}

/** Requests of the run that wait for a person, the oldest first. */
export async function pendingOf(
  convoke: Convoke,
  { id, sessionId }: RunHandle,
  signal: AbortSignal,
): Promise<InteractionRecord[]> {
  const { interactions } = convoke.sessions.at(sessionId);
  return patiently(async () => {
    const found: InteractionRecord[] = [];
    for await (const ask of interactions.pending({ signal }))
      if (ask.run_id === id) found.push(ask);
    return found;
  }, signal);
}

/**
 * Reads the log from its beginning, for the text. What is waited for is asked of the server once all that was known at
 * the start is read, and after each further request: an earlier request may have been answered.
 */
async function nextState(
  run: RunHandle,
  joined: RunText,
  { convoke, signal }: Pick<Waiting, 'convoke' | 'signal'>,
): Promise<RunState> {
  const first = await read(run, signal);
  // The events of a run that ended long ago may be deleted.
  if (first.ended_at !== undefined) return ended(first);
  const { last_event_id: known = '' } = first;
  for await (const event of run.follow({ signal })) {
    joined.take(event);
    // Ids have a fixed width, so they compare as text.
    if (event.id !== known && !(event.id > known && isAsk(event))) continue;
    const asks = await pendingOf(convoke, run, signal);
    if (asks.length > 0) return { record: await read(run, signal), text: joined.text, asks };
  }
  return ended(await read(run, signal));
}

function ended(record: RunRecord): RunState {
  return { record, text: record.output_text ?? '', asks: [] };
}

function isAsk({ type }: RunEvent): boolean {
  return type === 'permission_request' || type === 'user_question';
}

function read(run: RunHandle, signal: AbortSignal): Promise<RunRecord> {
  return patiently(() => run.read({ signal }), signal);
}
