import { waitSettled } from '../domain/run/run.ts';
import { type Wait, type WaitResult, endedEvent, settleWait } from '../domain/run/wait.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { type RunInSession, recordMove } from './record.ts';
import type { Services } from './services.ts';

/**
 * Settles an open wait: its row, its event and the run, which is ready if it was parked, change in one transaction. The
 * run is locked. False, and no change, where the wait is not open any more.
 */
export async function recordWait(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { seen, wait, result }: Settling,
): Promise<boolean> {
  const now = services.clock.now();
  const number = await tx.waits.nextNumber(wait.runId);
  const settled = settleWait(wait, result, { number, now });
  if (!(await tx.waits.settle(settled))) return false;
  tx.onCommit(() => count(services, settled, now));
  if (result.outcome === 'timed_out' && wait.childRunId !== null) {
    await tx.waits.doom(wait.id);
    tx.onCommit(() => services.fanout.wake('work'));
  }
  recordMove(services, tx, {
    seen,
    move: { run: waitSettled(seen.run, now), events: [endedEvent(settled)] },
  });
  return true;
}

function count(
  { metrics }: Pick<Services, 'metrics'>,
  { kind, result, dueAt }: Wait,
  now: number,
): void {
  const outcome = result?.outcome ?? '';
  metrics.waitsSettled.add(1, kind, outcome);
  // A message and the end of a called run come before that.
  const isOver = outcome === 'fired' || outcome === 'timed_out';
  if (isOver && dueAt !== null) metrics.waitsLate.observe((now - dueAt) / 1000);
}

interface Settling {
  readonly seen: RunInSession;
  readonly wait: Wait;
  readonly result: WaitResult;
}
