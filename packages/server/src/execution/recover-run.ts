import { formatEventId } from '@convoke/contract';
import { readCutDeltas, readOutputText } from '../app/runs/output-text.ts';
import { recordEnd } from '../app/record-end.ts';
import { type RunInSession, lockRun, recordMove } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import type { RecoveryPolicy } from '../domain/agent.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';
import { approvedInput } from '../domain/interaction.ts';
import { questionAboutCall, requestIdAbout } from '../domain/run/call-in-doubt.ts';
import { type Recovery, decideRecovery, keptSeqOf } from '../domain/run/recovery.ts';
import type { RunEventDraft } from '../domain/run/run-event.ts';
import type { InterruptionReason } from '../domain/run/run-parts.ts';
import { type LeasedRun, type Run, attemptOf, parkRun } from '../domain/run/run.ts';
import { interactionsChanged } from '../domain/session.ts';
import { interruptRun } from '../domain/run/run-interruption.ts';
import type { Harness } from '../ports/harness.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { raiseInteractions } from './recording/raise-interactions.ts';
import { endOfDiscarded } from './recording/discarded-text.ts';
import { recordSnapshot } from './folders/record-snapshot.ts';

export interface LostRun {
  readonly run: Run;
  /** Looks again at the locked row: its lease may have been renewed. */
  readonly isLost: (run: Run) => run is LeasedRun;
  /** Whether this server has the session folder that the lost leg worked in. */
  readonly hasSameFolder: boolean;
  /** Whether other servers share the database: one of them may have an agent that this one does not have. */
  readonly hasOthers?: boolean;
  /** The leg, if this server cut it. Undefined: the worker is gone. */
  readonly cut?: CutLeg;
}

/** A leg that did not yield in time (D-86). */
export interface CutLeg {
  /** State of the session folder after the leg, if the leg changed it. */
  readonly snapshot: FolderState | undefined;
}

export type RecoveryServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'fanout' | 'log' | 'metrics' | 'traces' | 'agents' | 'settings'
> & { readonly harnesses: ReadonlyMap<string, Framework> };

type Framework = Pick<Harness, 'afterLoss' | 'countsTokens'>;

/** How long a server that does not have the agent of a lost run leaves it to servers that do. */
const leftToOthersMs = 30_000;

/**
 * D-88: continues, asks about or ends a run whose worker is gone or whose leg was cut, in one transaction. False: the
 * run changed in the meantime or is left to another server, and nothing was written.
 */
export async function recoverRun(services: RecoveryServices, lost: LostRun): Promise<boolean> {
  const { store } = services;
  const { run } = lost;
  const { point } = await store.read.sessions.state(run.sessionId);
  const own = point?.runId === run.id ? point : undefined;
  const cutDeltas = await readCutDeltas(store, run, own?.seq ?? 0);
  const keepsCutText = cutDeltas !== undefined && keepsCut(services, run);
  const afterLoss = frameworkOf(services, run)?.afterLoss ?? 'none';
  const keptSeq = keptSeqOf({ run, point: own, afterLoss, keepsCutText });
  const kept = await readOutputText(store, run, keptSeq);
  const complete = keptSeq === run.lastSeq ? kept : await readOutputText(store, run);
  return store.transaction(async (tx) => {
    const seen = await lockRun(tx, { scope: run, sessionId: run.sessionId, runId: run.id });
    // A worker that was suspended has recorded more: the next pass reads it.
    if (seen?.run.leaseEpoch !== run.leaseEpoch || seen.run.lastSeq !== run.lastSeq) return false;
    if (!lost.isLost(seen.run)) return false;
    const { session } = seen;
    // The folder of a leg that was cut is archived.
    const savedEpoch = lost.cut === undefined ? seen.run.savedEpoch : seen.run.leaseEpoch;
    const current = { ...seen.run, savedEpoch };
    const recovery = await decide(services, tx, { ...lost, run: current, keepsCutText });
    if (recovery.kind === 'leave') return false;
    if (recovery.kind === 'continue' && recovery.keptSeq !== keptSeq) return false;
    if (lost.cut === undefined) {
      const times = { from: current.legStartedAt ?? current.statusAt, to: services.clock.now() };
      tx.onCommit(() => services.traces.runs?.lost(current, times));
    }
    await recordCutLeg(services, tx, { run: current, cut: lost.cut });
    const isUsagePartial =
      current.isUsagePartial || (await mayHaveCutMessage(services, tx, current));
    const withText = (text: string | undefined) => ({
      session,
      run: { ...current, outputText: text || null, isUsagePartial },
    });
    if (recovery.kind === 'end') {
      await endRecovered(services, tx, { seen: withText(complete), recovery, lost });
    } else {
      const hasDiscarded = keptSeq < run.lastSeq && cutDeltas?.length !== 0;
      const reason = reasonOf(lost);
      await interrupt(services, tx, { seen: withText(kept), recovery, hasDiscarded, reason });
    }
    return true;
  });
}

function frameworkOf(
  { agents, harnesses }: Pick<RecoveryServices, 'agents' | 'harnesses'>,
  run: Run,
): Framework | undefined {
  return harnesses.get(agents.find(run.agentName)?.framework ?? '');
}

/**
 * Whether the text of a cut message stays: its next leg continues it, or says it again and is compared with it
 * (D-473). Not where the agent wants it again from its beginning.
 */
function keepsCut({ agents }: RecoveryServices, run: Run): boolean {
  return agents.find(run.agentName)?.recovery.cutMessage === 'continue';
}

/** While a call runs, the model is not asked: nothing of it was cut. */
async function mayHaveCutMessage(
  services: RecoveryServices,
  tx: StoreTransaction,
  run: Run,
): Promise<boolean> {
  if (frameworkOf(services, run)?.countsTokens !== true) return false;
  const calls = await tx.toolCalls.ofRun(run.id);
  return !calls.some(({ status }) => status === 'begun');
}

function reasonOf({ cut }: LostRun): InterruptionReason {
  return cut === undefined ? 'worker_lost' : 'drained';
}

async function recordCutLeg(
  services: RecoveryServices,
  tx: StoreTransaction,
  { run, cut }: { readonly run: LeasedRun; readonly cut: CutLeg | undefined },
): Promise<void> {
  if (cut === undefined) return;
  tx.onCommit(() => services.metrics.drainCut.add(1));
  if (cut.snapshot === undefined) return;
  const owner = { scope: run, sessionId: run.sessionId, runId: run.id };
  await recordSnapshot(services, tx, { owner, snapshot: cut.snapshot });
}

interface RecoveredEnd {
  readonly seen: RunInSession<LeasedRun>;
  readonly recovery: Extract<Recovery, { kind: 'end' }>;
  readonly lost: LostRun;
}

async function endRecovered(
  services: RecoveryServices,
  tx: StoreTransaction,
  { seen, recovery, lost }: RecoveredEnd,
): Promise<void> {
  const { log, metrics } = services;
  const { outcome, isExhausted } = recovery;
  // A run that its own server ends was not found after a restart.
  await recordEnd(services, tx, { seen, outcome, recovered: lost.cut === undefined });
  tx.onCommit(() => {
    if (isExhausted) metrics.recoveryExhausted.add(1);
    log.warn('run recovered', { run_id: seen.run.id, status: outcome.status });
  });
}

async function decide(
  services: RecoveryServices,
  tx: StoreTransaction,
  lost: LostRun & { readonly run: LeasedRun; readonly keepsCutText: boolean },
): Promise<Recovery> {
  const { agents, settings, clock } = services;
  const { run, hasSameFolder, hasOthers = false, keepsCutText } = lost;
  const agent = agents.find(run.agentName);
  const { point } = await tx.sessions.state(run.sessionId);
  const answered = await tx.interactions.answered(run.id);
  const allowed = answered.flatMap((each) =>
    each.kind === 'permission' && each.answer.decision === 'allow'
      ? [{ ref: each.requestId, toolName: each.toolName, input: approvedInput(each) }]
      : [],
  );
  return decideRecovery({
    run,
    reason: reasonOf(lost),
    agent: agent && { ...agent, recovery: within(agent.recovery, settings.recovery) },
    afterLoss: frameworkOf(services, run)?.afterLoss ?? 'none',
    point: point?.runId === run.id ? point : undefined,
    calls: await tx.toolCalls.ofRun(run.id),
    allowed,
    isLeftToOthers: hasOthers && clock.now() < run.lease.expiresAt + leftToOthersMs,
    hasSameFolder,
    keepsCutText,
  });
}

/** `CONVOKE_RECOVERY=fail` turns recovery off for every agent of the deployment. */
function within(policy: RecoveryPolicy, deployment: 'resume' | 'fail'): RecoveryPolicy {
  return deployment === 'fail' ? { ...policy, onLoss: 'fail' } : policy;
}

interface Interruption {
  readonly seen: RunInSession<LeasedRun>;
  readonly recovery: Extract<Recovery, { kind: 'continue' }>;
  readonly reason: InterruptionReason;
  /** Whether text after the recovery point is discarded. */
  readonly hasDiscarded: boolean;
}

async function interrupt(
  services: RecoveryServices,
  tx: StoreTransaction,
  { seen, recovery, reason, hasDiscarded }: Interruption,
): Promise<void> {
  const { clock, agents, log, metrics, settings } = services;
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
  const interrupted = interruptRun(run, {
    reason,
    at: now,
    continueAt: now + pauseMs,
    isLoss: true,
    holdUntil: recovery.isHeld ? now + settings.machineReturnMs : null,
  });
  const interruption: RunEventDraft = {
    type: 'run_interrupted',
    data: {
      run_id: run.id,
      attempt: attemptOf(run),
      reason,
      ...(hasDiscarded ? { discard_from_event_id: formatEventId(keptSeq + 1) } : {}),
      ...(inDoubt.length > 0 ? { calls_in_doubt: inDoubt.length } : {}),
    },
  };
  // A program that also waits for something else may not need the answer to a question that it asked itself.
  const mustWait = inDoubt.length > 0 || (raised.open > 0 && !(await tx.waits.any(run.id)));
  recordMove(services, tx, {
    seen,
    move: {
      run: mustWait
        ? parkRun({ ...interrupted, pendingInteractions: raised.open }, now)
        : interrupted,
      ...(mustWait ? { session: interactionsChanged(session, raised.open, now) } : {}),
      events: [
        ...(hasDiscarded ? [endOfDiscarded(agents.find(run.agentName))] : []),
        interruption,
        ...raised.events,
      ],
    },
  });
  tx.onCommit(() => {
    metrics.runsInterrupted.add(1);
    metrics.callsInDoubt.add(inDoubt.length);
    log.warn('run interrupted; it will continue', {
      run_id: run.id,
      calls_in_doubt: inDoubt.length,
    });
  });
}
