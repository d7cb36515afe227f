import { recordWait } from '../app/record-wait.ts';
import { tryLockRun } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import { isEnded } from '../domain/run/run.ts';
import { type Wait, isDue, resultAtEnd } from '../domain/run/wait.ts';
import type { StoreTransaction } from '../ports/store.ts';

const perPass = 100;

type SettlingServices = Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics'>;

/** Settles waits whose time is over, the oldest first. On any number of servers each is settled once (D-854). */
export async function settleWaits(services: SettlingServices): Promise<boolean> {
  const due = await services.store.read.waits.due(services.clock.now(), perPass);
  let settled = 0;
  for (const wait of due) {
    const isSettled = await services.store.transaction((tx) => settleOne(services, tx, wait));
    if (isSettled) settled += 1;
  }
  // Those that another transaction has locked are looked at in the next pass.
  return due.length === perPass && settled > 0;
}

async function settleOne(
  services: SettlingServices,
  tx: StoreTransaction,
  { id, runId, sessionId, ...scope }: Wait,
): Promise<boolean> {
  const seen = await tryLockRun(tx, { scope, sessionId, runId });
  if (seen === undefined) return false;
  // Read again under the lock: a message, or another server, may have been first.
  const wait = await tx.waits.find(id);
  if (wait === undefined || isEnded(seen.run) || !isDue(wait, services.clock.now())) return false;
  return recordWait(services, tx, { seen, wait, result: resultAtEnd(wait) });
}
