import {
  type Holder,
  type RunAddress,
  lockRun,
  recordMove,
  startLegMove,
  tryLockRun,
  workspaceOf,
} from '../app/record.ts';
import type { Services } from '../app/services.ts';
import { type AnsweredInteraction, approvedInput } from '../domain/interaction.ts';
import { asksAbout, settleCall } from '../domain/run/recovery.ts';
import {
  type InterruptionReason,
  type LeaseGrant,
  type Run,
  type WaitingForWorker,
  isClaimable,
  leaseOf,
} from '../domain/run/run.ts';
import type { Session } from '../domain/session.ts';
import { knownCalls } from '../domain/run/tool-call.ts';
import { folderAnswer } from '../domain/run/workspace-behind.ts';
import type { Answer, LegInput } from '../ports/harness.ts';
import { type SessionState, newSessionState } from '../ports/repositories/sessions.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { type Frameworks, canRead, checkpointMaker, isOtherAgent } from './checkpoint-maker.ts';

export interface ClaimedLeg {
  readonly run: Run;
  readonly session: Session;
  readonly holder: Holder;
  readonly input: LegInput;
  /** What the legs before have left. */
  readonly state: SessionState;
  /**
   * True when the leg before was lost on another machine, or its files are given up: whatever that folder has now, the
   * archive is what counts (D-91).
   */
  readonly isElsewhere: boolean;
}

/** One attempt to claim a run: its lease, and the time that all its records carry. */
export interface Claim {
  readonly lease: LeaseGrant;
  readonly at: number;
}

/** Why a run was not claimed: another transaction has it locked, or there is nothing to claim. */
export type Unclaimed = 'busy' | 'gone';

/**
 * Claims a ready run under a lease, in one transaction with its consequences: `run_started`, the state of the
 * session, and its answers marked applied. Several servers try for the same runs: a server that finds one locked
 * continues with the next instead of waiting (SKIP LOCKED).
 */
export async function claimLeg(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'settings' | 'agents'> &
    Frameworks,
  address: RunAddress,
  { lease, at }: Claim,
): Promise<ClaimedLeg | Unclaimed> {
  return services.store.transaction(async (tx) => {
    const { tenantId } = address.scope;
    const perTenant = services.settings.tenantRunConcurrency;
    if (!services.fanout.lossless && !(await tx.runs.hasFreeSlot(tenantId, perTenant))) {
      return 'gone';
    }
    const seen = await tryLockRun(tx, address);
    if (seen === undefined) return 'busy';
    const { session, run: ready } = seen;
    if (!isClaimable(ready, { now: at, machine: lease.machine })) return 'gone';
    if (await isToBeReleased(tx, ready)) return 'gone';
    const state = await stateFor(tx, ready);
    const maker = checkpointMaker(services, services.agents.find(ready.agentName));
    // Written by a newer release: its servers can continue the run, this one cannot.
    if (!canRead(maker, state)) return 'gone';
    const input = await inputOf(tx, ready, at);
    const starting = { lease, now: at, isOtherAgent: isOtherAgent(maker, state) };
    const move = startLegMove({ session, run: ready }, starting);
    const run = recordMove(services, tx, { seen, move });
    if (ready.status !== 'queued') {
      const reason = ready.interruptedBy ?? 'answered';
      tx.onCommit(() => services.metrics.runsResumed.add(1, reason));
    }
    return {
      run,
      session: move.session,
      input,
      state,
      isElsewhere: isLostElsewhere(ready, lease.machine),
      holder: { ...address, epoch: run.leaseEpoch },
    };
  });
}

/**
 * For a claim whose answer was lost with the connection: only reading shows whether it was committed (D-321). No
 * other process signs with this owner, and this owner claims a run once at a time.
 */
export async function recallClaim(
  { store }: Pick<Services, 'store'>,
  address: RunAddress,
  claim: Claim,
): Promise<ClaimedLeg | Unclaimed> {
  return store.transaction((tx) => recalled(tx, address, claim));
}

/**
 * As `recallClaim`, for a run that began with its insert or with the end of the one before. Its transaction may not have
 * committed the session either, so this waits for the lock on the tenant, which that transaction holds.
 */
export async function recallStart(
  { store }: Pick<Services, 'store'>,
  address: RunAddress,
  claim: Claim,
): Promise<ClaimedLeg | Unclaimed> {
  const { organizationId, tenantId } = address.scope;
  return store.transaction(async (tx) => {
    await tx.tenants.lock(organizationId, tenantId);
    return recalled(tx, address, claim);
  });
}

async function recalled(
  tx: StoreTransaction,
  address: RunAddress,
  { lease, at }: Claim,
): Promise<ClaimedLeg | Unclaimed> {
  // Behind the lock, so that a commit still under way is seen too.
  const seen = await lockRun(tx, address);
  if (seen === undefined || leaseOf(seen.run)?.owner !== lease.owner) return 'gone';
  const input = await recalledInput(tx, seen.run, at);
  const { workspace, reason } = await resumption(tx, seen.run);
  const isElsewhere = reason === 'worker_lost' && workspace !== 'same';
  const state = await tx.sessions.state(seen.session.id);
  return { ...seen, input, state, isElsewhere, holder: { ...address, epoch: seen.run.leaseEpoch } };
}

/** A person was asked about the files of a held run, and answered: the reconcile pass acts on it. */
async function isToBeReleased(tx: StoreTransaction, run: WaitingForWorker): Promise<boolean> {
  if (run.holdUntil === null) return false;
  return folderAnswer(await tx.interactions.answered(run.id), run.leaseEpoch) !== undefined;
}

function isLostElsewhere(run: WaitingForWorker, machine: string): boolean {
  return run.interruptedBy === 'worker_lost' && workspaceOf(run, machine) !== 'same';
}

async function stateFor(tx: StoreTransaction, run: WaitingForWorker): Promise<SessionState> {
  const isFirst = run.status === 'queued' && run.number === 1;
  return isFirst ? newSessionState : tx.sessions.state(run.sessionId);
}

/** What the next leg of a claimed run starts with. Marks its answers applied. */
async function inputOf(
  tx: StoreTransaction,
  run: WaitingForWorker,
  now: number,
): Promise<LegInput> {
  if (run.status === 'queued') return { kind: 'prompt' };
  const answered = await tx.interactions.unapplied(run.id);
  await tx.interactions.markApplied(run.id, now);
  if (run.status === 'waiting') return { kind: 'resume', answers: answersOf(answered) };
  await settleDoubts(tx, run, answered);
  return continueInput(tx, run, run.interruptedBy ?? 'worker_lost');
}

/** As `inputOf`, for a claim that was committed already. */
async function recalledInput(tx: StoreTransaction, run: Run, at: number): Promise<LegInput> {
  const { reason } = await resumption(tx, run);
  if (reason === undefined) return { kind: 'prompt' };
  if (reason !== 'answered') return continueInput(tx, run, reason);
  const applied = await tx.interactions.appliedAt(run.id, at);
  return { kind: 'resume', answers: answersOf(applied) };
}

/** Every claim but the first starts with `run_resumed`, which has the reason. */
async function resumption(tx: StoreTransaction, run: Run): Promise<Resumption> {
  const { events } = await tx.runEvents.after(run.id, run.lastSeq - 1, { limit: 1, maxBytes: 1 });
  const [last] = events;
  if (last?.type !== 'run_resumed') return {};
  return (JSON.parse(last.body) as { data: Resumption }).data;
}

interface Resumption {
  readonly reason?: InterruptionReason | 'answered';
  readonly workspace?: string;
}

async function continueInput(
  tx: StoreTransaction,
  run: Run,
  reason: InterruptionReason,
): Promise<LegInput> {
  const answers = answersOf(await tx.interactions.answered(run.id));
  const calls = knownCalls(await tx.toolCalls.ofRun(run.id));
  return { kind: 'continue', reason, answers, calls };
}

/** D-84: writes what people answered about calls in doubt. */
async function settleDoubts(
  tx: StoreTransaction,
  run: Run,
  answered: readonly AnsweredInteraction[],
): Promise<void> {
  const calls = await tx.toolCalls.ofRun(run.id);
  const owner = { runId: run.id, tenantId: run.tenantId };
  for (const call of calls.filter(({ status }) => status === 'begun')) {
    const about = answered.find((interaction) => asksAbout(interaction, call));
    if (about?.kind === 'question') await tx.toolCalls.settle(owner, settleCall(call, about));
  }
}

function answersOf(answered: readonly AnsweredInteraction[]): Map<string, Answer> {
  return new Map(answered.map((interaction) => [interaction.requestId, answerOf(interaction)]));
}

export function answerOf(interaction: AnsweredInteraction): Answer {
  if (interaction.kind === 'question') {
    const { answer } = interaction;
    if ('declined' in answer) {
      return { kind: 'question', declined: true, ...reasonOf(answer.message) };
    }
    const values = typeof answer.answer === 'string' ? [answer.answer] : answer.answer;
    return { kind: 'question', values };
  }
  const { decision, message } = interaction.answer;
  if (decision === 'deny') return { kind: 'permission', allow: false, ...reasonOf(message) };
  return { kind: 'permission', allow: true, input: approvedInput(interaction) };
}

function reasonOf(message: string | undefined): { reason?: string } {
  return message === undefined ? {} : { reason: message };
}
