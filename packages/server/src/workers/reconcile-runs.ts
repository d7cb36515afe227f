import type { RunId } from '@convoke/contract';
import { readOutputText } from '../app/output-text.ts';
import { lockRun, recordEnd } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import { type Run, outcomeOfLostWorker } from '../domain/run.ts';

const perPass = 100;

type Recovery = Pick<Services, 'store' | 'clock' | 'fanout' | 'log' | 'metrics'>;

export interface Leases {
  /** This process, as it signs its leases. */
  readonly owner: string;
  readonly isExecuting: (runId: RunId) => boolean;
  /** False while this process cannot know that others had the time to renew theirs. */
  readonly mayJudgeOthers: () => boolean;
}

/**
 * D-26: ends every run whose worker is gone, through the same function a worker would have used. A run is
 * never executed again: its tools may have acted. True when there may be more.
 */
export async function reconcileRuns(services: Recovery, leases: Leases): Promise<boolean> {
  const { store, clock } = services;
  const expired = leases.mayJudgeOthers()
    ? await store.read.runs.expiredLeases(clock.now(), perPass)
    : [];
  const own = await store.read.runs.leasedBy(leases.owner);
  const lost = [...expired, ...own].filter((run) => isLost(run, leases, clock.now()));
  for (const run of lost) await endLostRun(services, leases, run);
  return expired.length === perPass && lost.length > 0;
}

/** Of its own runs a process knows whether it executes them; of others' it knows only their lease. */
function isLost(run: Run, { owner, isExecuting }: Leases, now: number): boolean {
  if (run.leaseOwner === owner) return !isExecuting(run.id);
  return run.leaseOwner !== null && (run.leaseExpiresAt ?? 0) < now;
}

async function endLostRun(services: Recovery, leases: Leases, run: Run): Promise<void> {
  const outputText = (await readOutputText(services.store, run)) || null;
  await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, { scope: run, sessionId: run.sessionId, runId: run.id });
    if (seen?.run.leaseEpoch !== run.leaseEpoch) return;
    // A worker that stood still has said one thing more: the next pass reads it too.
    if (seen.run.lastSeq !== run.lastSeq) return;
    if (!isLost(seen.run, leases, services.clock.now())) return;
    const outcome = outcomeOfLostWorker(seen.run);
    await recordEnd(services, tx, {
      seen: { ...seen, run: { ...seen.run, outputText } },
      outcome,
      recovered: true,
    });
    tx.onCommit(() =>
      services.log.warn('run recovered', { run_id: run.id, status: outcome.status }),
    );
  });
}
