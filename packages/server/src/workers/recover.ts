import type { RunId } from '@convoke/contract';
import { type Run, outcomeOfLostWorker } from '../domain/run.ts';
import { expireSession, isUnused } from '../domain/session.ts';
import { readOutputText } from '../app/output-text.ts';
import { lockRun, recordEnd } from '../app/record.ts';
import type { Services } from '../app/services.ts';

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

/** D-24: a parked run that is to be cancelled has no leg that could end it, and waits for no free place. */
export async function endParkedCancellations(services: Recovery): Promise<boolean> {
  const parked = await services.store.read.runs.parkedCancellations(perPass);
  for (const { id, sessionId, ...scope } of parked) {
    await services.store.transaction(async (tx) => {
      const seen = await lockRun(tx, { scope, sessionId, runId: id });
      if (seen?.run.status !== 'cancelling' || seen.run.leaseOwner !== null) return;
      await recordEnd(services, tx, { seen, outcome: { status: 'cancelled' } });
    });
  }
  return parked.length === perPass;
}

/** D-25: nobody answered in time. The run cannot go on, so it ends. */
export async function expireInteractions(services: Recovery): Promise<boolean> {
  const overdue = await services.store.read.interactions.overdue(services.clock.now(), perPass);
  for (const interaction of overdue) {
    const { sessionId, runId } = interaction;
    await services.store.transaction(async (tx) => {
      const seen = await lockRun(tx, { scope: interaction, sessionId, runId });
      const isSettled = await tx.interactions.settle({ ...interaction, status: 'expired' });
      // A run that is being ended already needs no second end.
      if (seen === undefined || !isSettled || seen.run.status !== 'waiting') return;
      await recordEnd(services, tx, {
        seen,
        outcome: {
          status: 'failed',
          code: 'interaction_expired',
          message: 'Nobody answered within the time the agent allows.',
        },
      });
      tx.onCommit(() => services.fanout.wake(`control:${runId}`));
    });
  }
  return overdue.length === perPass;
}

/** D-17. */
export async function expireSessions(
  services: Pick<Services, 'store' | 'clock' | 'settings'>,
): Promise<boolean> {
  const { store, clock, settings } = services;
  if (settings.sessionIdleTtlMs === 0) return false;
  const before = clock.now() - settings.sessionIdleTtlMs;
  const unused = await store.read.sessions.unusedSince(before, perPass);
  for (const session of unused) {
    await store.transaction(async (tx) => {
      const seen = await tx.sessions.lock(session, session.id);
      if (seen === undefined || !isUnused(seen, before)) return;
      await tx.sessions.save(expireSession(seen, clock.now()));
    });
  }
  return unused.length === perPass;
}
