import { type RunInSession, recordMove } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import { type LeasedRun, waitLive } from '../../domain/run/run.ts';
import { interactionsChanged } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { RaisedItems } from './raise-interactions.ts';

/**
 * A live runtime keeps its process while it waits for a person: the lease stays, the status is `waiting`. A leg that
 * waits for something else continues with its other branches.
 */
export function recordRaised(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  {
    seen,
    raised: { open, openWaits, events, isAsking },
  }: { seen: RunInSession<LeasedRun>; raised: RaisedItems },
): RunInSession {
  const now = services.clock.now();
  const run = { ...seen.run, openWaits };
  if (!isAsking) {
    return {
      run: recordMove(services, tx, { seen, move: { run, events } }),
      session: seen.session,
    };
  }
  const session = interactionsChanged(seen.session, open, now);
  const move = { run: waitLive(run, open, now), session, events };
  return { run: recordMove(services, tx, { seen, move }), session };
}
