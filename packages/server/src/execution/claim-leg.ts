import {
  type Holder,
  type RunAddress,
  lockRun,
  recordMove,
  tryLockRun,
  workspaceOf,
} from '../app/record.ts';
import { beginRun } from '../app/runs/begin-run.ts';
import type { Services } from '../app/services.ts';
import { unexecutedLeg } from '../domain/connections/asked-account.ts';
import {
  type SettledInteraction,
  type UnexecutedLeg,
  approvedInput,
  isSettled,
} from '../domain/interaction.ts';
import { asksAbout, settleCall } from '../domain/run/call-in-doubt.ts';
import type { InterruptionReason } from '../domain/run/run-parts.ts';
import { type Run, type WaitingForWorker, isClaimable, isParked } from '../domain/run/run.ts';
import { knownCalls } from '../domain/run/tool-call.ts';
import { knownWaits } from '../domain/run/wait.ts';
import { folderAnswer } from '../domain/run/workspace-behind.ts';
import type { Answer, LegInput } from '../ports/harness.ts';
import { type SessionState, newSessionState } from '../ports/repositories/runs/sessions.ts';
import type { BegunLeg, Slot } from '../ports/run-slots.ts';
import type { StoreTransaction } from '../ports/store.ts';
import {
  type Frameworks,
  canRead,
  checkpointMaker,
  isOtherAgent,
  replaysRuns,
  waitsAsRow,
} from './checkpoint-maker.ts';

/** A leg that this server executes, and the right to write under its lease. */
export interface ClaimedLeg extends Omit<BegunLeg, 'run'> {
  readonly run: Run;
  readonly holder: Holder;
}

export function claimedLeg(leg: Omit<ClaimedLeg, 'holder'>): ClaimedLeg {
  const { run, session, input, state, isElsewhere } = leg;
  const { sessionId, leaseEpoch: epoch } = run;
  const holder = { scope: run, sessionId, runId: run.id, epoch };
  return { run, session, input, state, isElsewhere, holder };
}

/** Why a run was not claimed: another transaction has it locked, or there is nothing to claim. */
export type Unclaimed = 'busy' | 'gone';

type ClaimServices = Frameworks &
  Pick<
    Services,
    'store' | 'clock' | 'fanout' | 'metrics' | 'settings' | 'agents' | 'isSingleServer'
  >;

/**
 * Claims a ready run under a lease, in one transaction with its consequences: `run_started`, the state of the
 * session, and its answers and waits marked applied. Several servers try for the same runs: a server that finds one
 * locked continues with the next instead of waiting (SKIP LOCKED).
 */
export async function claimLeg(
  services: ClaimServices,
  address: RunAddress,
  slot: Slot,
): Promise<BegunLeg | Unclaimed> {
  return services.store.transaction(async (tx) => {
    const { tenantId } = address.scope;
    const perTenant = services.settings.tenantRunConcurrency;
    if (!services.isSingleServer && !(await tx.runs.hasFreeSlot(tenantId, perTenant))) {
      return 'gone';
    }
    const seen = await tryLockRun(tx, address);
    if (seen === undefined) return 'busy';
    const { session, run: ready } = seen;
    const { machine } = slot.lease;
    const now = services.clock.now();
    if (!isClaimable(ready, { now, machine })) return 'gone';
    if (await isToBeReleased(tx, ready)) return 'gone';
    const state = await stateFor(tx, ready);
    const agent = services.agents.find(ready.agentName);
    const maker = checkpointMaker(services, agent);
    // Written by a newer release: its servers can continue the run, this one cannot.
    if (!canRead(maker, state)) return 'gone';
    const isEdited = isOtherAgent(maker, state);
    const replay = {
      replays: replaysRuns(services, agent),
      mayWait: waitsAsRow(services, agent),
      isOtherAgent: isEdited,
      now,
    };
    const input = await inputOf(tx, ready, replay);
    const leg = await beginRun(
      tx,
      { session, run: ready },
      {
        slot,
        origin: { input, state, isElsewhere: isLostElsewhere(ready, machine) },
        now,
        isOtherAgent: isEdited,
        agent,
        record: (move) => recordMove(services, tx, { seen, move }),
      },
    );
    if (ready.status !== 'queued') {
      const reason = ready.interruptedBy ?? 'answered';
      tx.onCommit(() => services.metrics.runsResumed.add(1, reason));
    }
    return leg;
  });
}

/**
 * Checks whether a leg that was begun is stored, because the answer to its commit was lost with the connection. Returns
 * it with the run as it is now; undefined when it is not stored, or its run was taken away since. No other process
 * signs with this owner, and the run was begun under this epoch once (D-321).
 */
export async function recallLeg(
  { store }: Pick<Services, 'store'>,
  leg: BegunLeg,
): Promise<ClaimedLeg | undefined> {
  const { run } = leg;
  const { organizationId, tenantId, sessionId } = run;
  return store.transaction(async (tx) => {
    // Behind a lock of that transaction, so that a commit still under way is seen too. If it has made the session,
    // there is no row of it to wait for; but until it ends it keeps others from locking the tenant.
    const session = await tx.sessions.lock(run, sessionId);
    if (session === undefined) await tx.tenants.lock(organizationId, tenantId);
    const seen = await lockRun(tx, { scope: run, sessionId, runId: run.id });
    if (seen === undefined || seen.run.leaseEpoch !== run.leaseEpoch) return undefined;
    if (seen.run.lease?.owner !== run.lease.owner) return undefined;
    return claimedLeg({ ...leg, ...seen });
  });
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
  replay: Replay,
): Promise<LegInput> {
  if (run.status === 'queued') return { kind: 'prompt' };
  const answered = await tx.interactions.unapplied(run.id);
  await Promise.all([
    tx.interactions.markApplied(run.id, replay.now),
    tx.waits.markApplied(run.id, replay.now),
  ]);
  const unexecuted = unexecutedLeg(answered);
  if (unexecuted !== undefined) return inputAgain(tx, run, { ...replay, unexecuted });
  if (isParked(run)) {
    const isTold = replay.replays || (replay.mayWait && (await tx.waits.any(run.id)));
    if (isTold) return continueInput(tx, run, { ...replay, reason: 'answered' });
    return { kind: 'resume', answers: answersOf(answered) };
  }
  await settleDoubts(tx, run, answered);
  return continueInput(tx, run, { ...replay, reason: run.interruptedBy ?? 'worker_lost' });
}

/** The input of the leg that asked for an account in place of being executed (D-607). */
async function inputAgain(
  tx: StoreTransaction,
  run: Run,
  { unexecuted, ...replay }: Replay & { readonly unexecuted: UnexecutedLeg },
): Promise<LegInput> {
  switch (unexecuted.kind) {
    case 'prompt':
      return { kind: 'prompt' };
    case 'resume': {
      const applied = await tx.interactions.ofRequests(run.id, unexecuted.refs);
      return { kind: 'resume', answers: answersOf(applied.filter(isSettled)) };
    }
    case 'continue':
      return continueInput(tx, run, { ...replay, reason: unexecuted.reason });
    default:
      return unexecuted satisfies never;
  }
}

interface Replay {
  /** Whether the framework starts every leg from the beginning of the run. */
  readonly replays: boolean;
  /** Whether its runs wait for more than people, although it does not replay. */
  readonly mayWait: boolean;
  readonly isOtherAgent: boolean;
  readonly now: number;
}

async function continueInput(
  tx: StoreTransaction,
  run: Run,
  { reason, isOtherAgent }: Omit<Replay, 'now'> & { reason: InterruptionReason | 'answered' },
): Promise<LegInput> {
  const answers = answersOf(await tx.interactions.answered(run.id));
  const calls = knownCalls(await tx.toolCalls.ofRun(run.id));
  const asked = await tx.waits.ofRun(run.id);
  const ended = asked.flatMap(({ result, childRunId: id }) =>
    result?.outcome === 'completed' && id !== null ? [id] : [],
  );
  const waits = knownWaits(asked, await tx.runs.completed(run, ended));
  const settled = { answers, calls, waits };
  return { kind: 'continue', reason, ...settled, ...(isOtherAgent && { isOtherAgent }) };
}

/** D-84: writes what people answered about calls in doubt. */
async function settleDoubts(
  tx: StoreTransaction,
  run: Run,
  answered: readonly SettledInteraction[],
): Promise<void> {
  const calls = await tx.toolCalls.ofRun(run.id);
  const owner = { runId: run.id, tenantId: run.tenantId };
  for (const call of calls.filter(({ status }) => status === 'begun')) {
    const about = answered.find((interaction) => asksAbout(interaction, call));
    if (about?.kind === 'question') await tx.toolCalls.settle(owner, settleCall(call, about));
  }
}

function answersOf(answered: readonly SettledInteraction[]): Map<string, Answer> {
  return new Map(answered.map((interaction) => [interaction.requestId, answerOf(interaction)]));
}

export function answerOf(interaction: SettledInteraction): Answer {
  if (interaction.kind === 'question') {
    const { answer } = interaction;
    if ('declined' in answer) {
      return { kind: 'question', declined: true, ...reasonOf(answer.message) };
    }
    const values = typeof answer.answer === 'string' ? [answer.answer] : answer.answer;
    return { kind: 'question', values };
  }
  const { decision, message } = interaction.answer;
  if (decision === 'deny') {
    const { decidedBy } = interaction;
    const by = decidedBy === 'rule' || decidedBy === 'expiry' ? { by: decidedBy } : {};
    return { kind: 'permission', allow: false, ...reasonOf(message), ...by };
  }
  return { kind: 'permission', allow: true, input: approvedInput(interaction) };
}

function reasonOf(message: string | undefined): { reason?: string } {
  return message === undefined ? {} : { reason: message };
}
