import { tryLockRun } from '../app/record.ts';
import { cancelWithin } from '../app/runs/runs.ts';
import type { Services } from '../app/services.ts';
import { isEnded } from '../domain/run/run.ts';
import type { Wait } from '../domain/run/wait.ts';
import type { StoreTransaction } from '../ports/store.ts';

const perPass = 100;

type CancellingServices = Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces'>;

/**
 * Cancels called runs whose caller was cancelled or has ended, or whose time is over (D-922). Each cancel dooms
 * the runs that the called one has called, so a tree ends level by level.
 */
export async function cancelCalledRuns(services: CancellingServices): Promise<boolean> {
  const doomed = await services.store.read.waits.doomed(perPass);
  let cancelled = 0;
  for (const wait of doomed) {
    const isDone = await services.store.transaction((tx) => cancelOne(services, tx, wait));
    if (isDone) cancelled += 1;
  }
  // Those that another transaction has locked are looked at in the next pass.
  return doomed.length === perPass && cancelled > 0;
}

/** Holds the called run alone: the row of the wait is written last, and its writers wait for nothing behind it. */
async function cancelOne(
  services: CancellingServices,
  tx: StoreTransaction,
  { id, runId: callerId, childRunId, childSessionId, ...scope }: Wait,
): Promise<boolean> {
  if (childRunId === null || childSessionId === null) return false;
  const called = { scope, sessionId: childSessionId, runId: childRunId };
  const seen = await tryLockRun(tx, called);
  if (seen === undefined && (await tx.runs.findById(scope, childRunId)) !== undefined) return false;
  if (seen !== undefined && !isEnded(seen.run)) {
    const caller = await tx.runs.findById(scope, callerId);
    await cancelWithin(services, tx, { seen, by: caller?.cancelledBy ?? null });
  }
  await tx.waits.forgetDoom(id);
  return true;
}
