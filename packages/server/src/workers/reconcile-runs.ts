import type { RunId } from '@convoke/contract';
import { readOutputText } from '../app/output-text.ts';
import { lockRun, recordEnd } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import { type LeasedRun, type Run, leaseOf, outcomeOfLostWorker } from '../domain/run.ts';

const perPass = 100;

type Recovery = Pick<Services, 'store' | 'clock' | 'fanout' | 'log' | 'metrics'>;

export interface Leases {
  /** Name under which this process signs its leases. */
  readonly owner: string;
  readonly isExecuting: (runId: RunId) => boolean;
  /** False while other processes may not have had the time to renew their leases. */
  readonly canTrustExpiry: () => boolean;
}

/**
 * D-26: ends every run whose worker is gone, through the same function a worker uses. A run is never executed
 * again: its tools may have acted.
 */
export async function reconcileRuns(services: Recovery, leases: Leases): Promise<boolean> {
  const { store, clock } = services;
  const expired = leases.canTrustExpiry()
    ? await store.read.runs.expiredLeases(clock.now(), perPass)
    : [];
  const own = await store.read.runs.leasedBy(leases.owner);
  const lost = [...expired, ...own].filter((run) => isLost(run, leases, clock.now()));
  for (const run of lost) await endLostRun(services, leases, run);
  return expired.length === perPass && lost.length > 0;
}

/** A process knows which of its own runs it executes; runs of other processes are lost when their lease expires. */
function isLost(run: Run, { owner, isExecuting }: Leases, now: number): run is LeasedRun {
  const lease = leaseOf(run);
  if (lease === null) return false;
  return lease.owner === owner ? !isExecuting(run.id) : lease.expiresAt < now;
}

async function endLostRun(services: Recovery, leases: Leases, run: Run): Promise<void> {
  const outputText = (await readOutputText(services.store, run)) || null;
  await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, { scope: run, sessionId: run.sessionId, runId: run.id });
    if (seen?.run.leaseEpoch !== run.leaseEpoch) return;
    // A worker that was suspended has appended one more event: the next pass reads the text again.
    if (seen.run.lastSeq !== run.lastSeq) return;
    const { session, run: current } = seen;
    if (!isLost(current, leases, services.clock.now())) return;
    const outcome = outcomeOfLostWorker(current);
    await recordEnd(services, tx, {
      seen: { session, run: { ...current, outputText } },
      outcome,
      recovered: true,
    });
    tx.onCommit(() =>
      services.log.warn('run recovered', { run_id: run.id, status: outcome.status }),
    );
  });
}
