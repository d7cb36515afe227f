import { changeTime } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { type RunAddress, readyNext, recordMove, startLegMove } from '../record.ts';
import type { Services } from '../services.ts';
import type { StartSlot } from './start-slot.ts';

/** Whether an end may begin the next run: only the one server of a database knows whether other runs wait for a slot. */
export function beginsNext({ slots, fanout }: Pick<Services, 'slots' | 'fanout'>): boolean {
  return slots !== undefined && fanout.lossless;
}

/**
 * Begins the next queued run of a session in the transaction that ended the one before, if there is a slot for it. A
 * worker that claimed it would need a transaction of its own, so a session would execute one run for every two that it
 * is given. Called last: the run starts from what the transaction has stored of the session.
 */
export async function beginNext(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { ended: { scope, sessionId }, slot }: { readonly ended: RunAddress; readonly slot: StartSlot },
): Promise<void> {
  const [session, run] = await Promise.all([
    tx.sessions.lock(scope, sessionId),
    tx.runs.nextQueued(sessionId),
    slot.readState(tx, sessionId),
  ]);
  if (session === undefined || run === undefined || session.currentRunId !== null) return;
  const now = changeTime(session, services.clock.now());
  const reserved = slot.reserve(run);
  if (reserved === undefined) return readyNext(services, tx, { sessionId, now });
  const seen = { session, run };
  const move = startLegMove(seen, { lease: reserved.lease, now });
  const begun = recordMove(services, tx, { seen, move });
  tx.onCommit(() => reserved.start({ run: begun, session: move.session }));
}
