import { recordEnd } from '../app/record-end.ts';
import { lockRun } from '../app/record.ts';
import type { Services } from '../app/services.ts';

const perPass = 100;

/** D-24: ends parked runs that are being cancelled. They have no leg to end them, and need no run slot. */
export async function endParkedCancellations(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces'>,
): Promise<boolean> {
  const parked = await services.store.read.runs.parkedCancellations(perPass);
  for (const { id, sessionId, ...scope } of parked) {
    await services.store.transaction(async (tx) => {
      const seen = await lockRun(tx, { scope, sessionId, runId: id });
      if (seen?.run.status !== 'cancelling' || seen.run.lease !== null) return;
      const { session, run } = seen;
      await recordEnd(services, tx, { seen: { session, run }, outcome: { status: 'cancelled' } });
    });
  }
  return parked.length === perPass;
}
