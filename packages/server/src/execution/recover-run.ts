import { formatEventId } from '@convoke/contract';
import { readOutputText } from '../app/output-text.ts';
import { type RunInSession, lockRun, recordEnd, recordMove } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import type { RecoveryPolicy } from '../domain/agent.ts';
import {
  type Recovery,
  decideRecovery,
  questionAboutCall,
  requestIdAbout,
} from '../domain/recovery.ts';
import type { RunEventDraft } from '../domain/run-event.ts';
import { type LeasedRun, type Run, attemptOf, interruptRun, parkRun } from '../domain/run.ts';
import { interactionsChanged } from '../domain/session.ts';
import type { Harness } from '../ports/harness.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { raiseInteractions } from './raise-interactions.ts';

export interface LostRun {
  readonly run: Run;
  /** Looks again at the locked row: its lease may have been renewed. */
  readonly isLost: (run: Run) => run is LeasedRun;
  /** Whether this server has the session folder that the lost leg worked in. */
  readonly hasSameFolder: boolean;
}

export type RecoveryServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'fanout' | 'log' | 'metrics' | 'agents' | 'settings'
> & { readonly harnesses: ReadonlyMap<string, Pick<Harness, 'afterLoss'>> };

/** D-88: continues, asks about or ends a run whose worker is gone, in one transaction. */
export async function recoverRun(services: RecoveryServices, lost: LostRun): Promise<void> {
  const { store } = services;
  const { run } = lost;
  const { point } = await store.read.sessions.state(run.sessionId);
  const keptSeq = point?.runId === run.id ? point.seq : 0;
  const kept = await readOutputText(store, run, keptSeq);
  const complete = await readOutputText(store, run);
  await store.transaction(async (tx) => {
    const seen = await lockRun(tx, { scope: run, sessionId: run.sessionId, runId: run.id });
    // A worker that was suspended has recorded more: the next pass reads it.
    if (seen?.run.leaseEpoch !== run.leaseEpoch || seen.run.lastSeq !== run.lastSeq) return;
    const { session, run: current } = seen;
    if (!lost.isLost(current)) return;
    const recovery = await decide(services, tx, { ...lost, run: current });
    if (recovery.kind === 'end') {
      const ended = { session, run: { ...current, outputText: complete || null } };
      await recordEnd(services, tx, { seen: ended, outcome: recovery.outcome, recovered: true });
      tx.onCommit(() => {
        services.log.warn('run recovered', { run_id: run.id, status: recovery.outcome.status });
      });
      return;
    }
    if (recovery.keptSeq !== keptSeq) return;
    const cut = { session, run: { ...current, outputText: kept || null } };
    // Texts that are too long to store cannot be compared; discarding nothing does no harm.
    const isCut = complete === undefined || kept !== complete;
    await interrupt(services, tx, { seen: cut, recovery, isCut });
  });
}

async function decide(
  { agents, harnesses, settings }: RecoveryServices,
  tx: StoreTransaction,
  { run, hasSameFolder }: LostRun & { readonly run: LeasedRun },
): Promise<Recovery> {
  const agent = agents.find(run.agentName);
  const { point } = await tx.sessions.state(run.sessionId);
  const answered = await tx.interactions.answered(run.id);
  const allowed = answered.flatMap(({ requestId, answer }) =>
    answer.kind === 'permission' && answer.decision === 'allow' ? [requestId] : [],
  );
  return decideRecovery({
    run,
    agent: agent && { ...agent, recovery: within(agent.recovery, settings.recovery) },
    afterLoss: harnesses.get(agent?.framework ?? '')?.afterLoss ?? 'none',
    point: point?.runId === run.id ? point : undefined,
    calls: await tx.toolCalls.ofRun(run.id),
    allowed: new Set(allowed),
    hasSameFolder,
  });
}

/** `CONVOKE_RECOVERY=fail` turns recovery off for every agent of the deployment. */
function within(policy: RecoveryPolicy, deployment: 'resume' | 'fail'): RecoveryPolicy {
  return deployment === 'fail' ? { ...policy, onLoss: 'fail' } : policy;
}

interface Interruption {
  readonly seen: RunInSession<LeasedRun>;
  readonly recovery: Extract<Recovery, { kind: 'continue' }>;
  /** Whether text after the recovery point is discarded. */
  readonly isCut: boolean;
}

async function interrupt(
  services: RecoveryServices,
  tx: StoreTransaction,
  { seen, recovery, isCut }: Interruption,
): Promise<void> {
  const { clock, agents, log, metrics } = services;
  const { run, session } = seen;
  const { settled, inDoubt, keptSeq, waitMs: pauseMs } = recovery;
  const now = clock.now();
  for (const call of settled) {
    await tx.toolCalls.settle({ runId: run.id, tenantId: run.tenantId }, call);
  }
  const waitMs = (agents.find(run.agentName)?.limits.waitHours ?? 1) * 3_600_000;
  const questions = await Promise.all(
    inDoubt.map(async (call) => {
      const earlier = await tx.interactions.findByRequest(run.id, requestIdAbout(call));
      return questionAboutCall(call, { isRepeated: earlier !== undefined });
    }),
  );
  const raised = await raiseInteractions(services, tx, { run, items: questions, waitMs });
  const interrupted = interruptRun(run, { reason: 'worker_lost', continueAt: now + pauseMs });
  const told: RunEventDraft = {
    type: 'run_interrupted',
    data: {
      run_id: run.id,
      attempt: attemptOf(run),
      reason: 'worker_lost',
      ...(isCut ? { discard_from_event_id: formatEventId(keptSeq + 1) } : {}),
      ...(inDoubt.length > 0 ? { calls_in_doubt: inDoubt.length } : {}),
    },
  };
  const mustWait = raised.open > 0;
  await recordMove(services, tx, {
    seen,
    move: {
      run: mustWait ? { ...parkRun(interrupted), pendingInteractions: raised.open } : interrupted,
      ...(mustWait ? { session: interactionsChanged(session, raised.open, now) } : {}),
      events: [told, ...raised.events],
    },
  });
  tx.onCommit(() => {
    metrics.runsInterrupted.add(1);
    log.warn('run interrupted; it goes on', { run_id: run.id, calls_in_doubt: inDoubt.length });
  });
}
