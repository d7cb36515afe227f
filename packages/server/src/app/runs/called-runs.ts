import { type EndedRun, isEnded } from '../../domain/run/run.ts';
import { resultOfRun } from '../../domain/run/wait.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordWait } from '../record-wait.ts';
import { lockRun } from '../record.ts';
import type { Services } from '../services.ts';

/**
 * D-922: the end of a called run, the wait of its caller and the caller, which is ready if it was parked, are one
 * transaction. It holds the called run already and locks the caller then; nothing locks them the other way round.
 */
export async function settleCaller(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  run: EndedRun,
): Promise<void> {
  if (run.ancestors === null) return;
  const found = await tx.waits.ofCalled(run.id);
  if (found?.status !== 'open') return;
  const { organizationId, tenantId, sessionId, runId } = found;
  const scope = { organizationId, tenantId };
  const seen = await lockRun(tx, { scope, sessionId, runId });
  // Read again under the lock: a cancel, or the end of the time for it, may have been first.
  const wait = await tx.waits.find(found.id);
  if (seen === undefined || isEnded(seen.run) || wait?.status !== 'open') return;
  await recordWait(services, tx, { seen, wait, result: resultOfRun(run) });
}
