import {
  type OrganizationId,
  type RunErrorCode,
  type RunId,
  type SessionId,
  type TenantId,
  type interruptionReasons,
  isTerminalRunStatus,
} from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * A run is one piece of work inside a session, executed as a series of legs.
 *
 * - `queued`: accepted, not yet handed to an agent.
 * - `running`: a leg executes under a lease; or it was interrupted, has no lease, and is to be continued from
 *   `continueAt` on.
 * - `waiting`: a person has to answer. Parked: no leg executes until every interaction is answered. Live:
 *   the agent's process waits under its lease.
 * - `cancelling`: a cancel is recorded, so it survives a crash, and the run has not ended yet. A parked run
 *   has no lease here: a worker ends it.
 * - `completed`, `failed`, `cancelled`: terminal, entered together with the one terminal event.
 *
 * `readyAt` is set when a worker should claim the run: it is the head of its session's queue, or all its
 * interactions are answered. `leaseEpoch` rises with every claim and is a condition of every later write,
 * so a worker that lost its lease can no longer write (fencing).
 */
export type Run = OpenRun | EndedRun;
export type OpenRun = QueuedRun | StartedRun;
/** Handed to an agent and not ended. */
export type StartedRun = RunningRun | InterruptedRun | WaitingRun | CancellingRun;
/** A worker may claim it, now or later. */
export type WaitingForWorker = QueuedRun | ParkedRun | InterruptedRun;
export type WaitingRun = ParkedRun | LiveWaitingRun;
export type EndedRun = FinishedRun | FailedRun;

/** A run under a lease: a leg executes. */
export type LeasedRun = RunningRun | LiveWaitingRun | (CancellingRun & { readonly lease: Lease });

interface RunRecord {
  readonly id: RunId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agentName: string;
  readonly number: number;
  /** The request's `input`, as JSON text. */
  readonly input: string;
  readonly outputText: string | null;
  readonly usage: TokenUsage | null;
  readonly pendingInteractions: number;
  readonly lastSeq: number;
  readonly lastEventAt: number;
  readonly leaseEpoch: number;
  readonly createdAt: number;
  /** Workers lost since the last recovery point. */
  readonly losses: number;
  readonly lossesTotal: number;
  /** Why the last leg was interrupted; null once the run was continued. */
  readonly interruptedBy: InterruptionReason | null;
}

/** D-87. */
export type InterruptionReason = (typeof interruptionReasons)[number];

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Lease {
  readonly owner: string;
  readonly expiresAt: number;
}

export interface QueuedRun extends RunRecord {
  readonly status: 'queued';
  readonly readyAt: number | null;
}

export interface RunningRun extends RunRecord {
  readonly status: 'running';
  readonly lease: Lease;
  readonly startedAt: number;
}

export interface InterruptedRun extends RunRecord {
  readonly status: 'running';
  readonly lease: null;
  readonly continueAt: number;
  readonly startedAt: number;
}

export interface ParkedRun extends RunRecord {
  readonly status: 'waiting';
  readonly lease: null;
  readonly readyAt: number | null;
  readonly startedAt: number;
}

export interface LiveWaitingRun extends RunRecord {
  readonly status: 'waiting';
  readonly lease: Lease;
  readonly startedAt: number;
}

export interface CancellingRun extends RunRecord {
  readonly status: 'cancelling';
  readonly lease: Lease | null;
  readonly startedAt: number;
  readonly cancelRequestedAt: number;
}

interface End extends RunRecord {
  /** Null when the run was cancelled in the queue. */
  readonly startedAt: number | null;
  readonly cancelRequestedAt: number | null;
  readonly endedAt: number;
  /** Whether recovery ended it, after its worker was lost (D-26). */
  readonly recovered: boolean;
}

export interface FinishedRun extends End {
  readonly status: 'completed' | 'cancelled';
}

export interface FailedRun extends End {
  readonly status: 'failed';
  readonly error: RunError;
}

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
}

export type NewRun = Pick<
  RunRecord,
  'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'agentName' | 'number' | 'input'
>;

export function openRun(
  identity: NewRun,
  { isHead, now }: { readonly isHead: boolean; readonly now: number },
): QueuedRun {
  return {
    ...identity,
    status: 'queued',
    outputText: null,
    usage: null,
    pendingInteractions: 0,
    lastSeq: 0,
    lastEventAt: now,
    readyAt: isHead ? now : null,
    leaseEpoch: 0,
    createdAt: now,
    losses: 0,
    lossesTotal: 0,
    interruptedBy: null,
  };
}

export function isEnded(run: Run): run is EndedRun {
  return isTerminalRunStatus(run.status);
}

/** The lease under which a leg of the run executes, if one does. */
export function leaseOf(run: Run): Lease | null {
  return isEnded(run) || run.status === 'queued' ? null : run.lease;
}

export function isLeased(run: Run): run is LeasedRun {
  return leaseOf(run) !== null;
}

function isParked(run: Run): run is ParkedRun {
  return run.status === 'waiting' && run.lease === null;
}

/** Since when a worker should claim the run; null when it should not. */
export function readyAtOf(run: Run): number | null {
  return run.status === 'queued' || isParked(run) ? run.readyAt : null;
}

/** True when a worker may claim the run. */
export function isReady(run: Run): run is (QueuedRun | ParkedRun) & { readonly readyAt: number } {
  return readyAtOf(run) !== null;
}

/** Since when a worker should continue an interrupted run; null when it should not. */
export function continueAtOf(run: Run): number | null {
  return isInterrupted(run) ? run.continueAt : null;
}

export function isInterrupted(run: Run): run is InterruptedRun {
  return run.status === 'running' && run.lease === null;
}

/** True when a worker may claim the run now. */
export function isClaimable(run: Run, now: number): run is WaitingForWorker {
  return isReady(run) || (isInterrupted(run) && run.continueAt <= now);
}

/** A worker claimed the run: for its first leg, after answers, or after an interruption. */
export function leaseRun(run: WaitingForWorker, lease: Lease, now: number): RunningRun {
  return {
    ...recordOf(run),
    interruptedBy: null,
    status: 'running',
    lease: { owner: lease.owner, expiresAt: lease.expiresAt },
    leaseEpoch: run.leaseEpoch + 1,
    startedAt: run.status === 'queued' ? now : run.startedAt,
  };
}

/** The worker is gone, and the run is to be continued from `continueAt` on (D-88). */
export function interruptRun(
  run: LeasedRun,
  { reason, continueAt }: { readonly reason: InterruptionReason; readonly continueAt: number },
): InterruptedRun {
  const isLoss = reason === 'worker_lost' ? 1 : 0;
  return {
    ...recordOf(run),
    status: 'running',
    lease: null,
    continueAt,
    startedAt: run.startedAt,
    losses: run.losses + isLoss,
    lossesTotal: run.lossesTotal + isLoss,
    interruptedBy: reason,
  };
}

/** The number of the current attempt, from 1. */
export function attemptOf(run: Run): number {
  return run.lossesTotal + 1;
}

/** The leg ended `waiting`: the lease is released and nothing executes. */
export function parkRun(run: StartedRun): ParkedRun {
  const { startedAt } = run;
  return { ...recordOf(run), status: 'waiting', lease: null, readyAt: null, startedAt };
}

/** Every interaction is answered: a worker may start the next leg. A run that was interrupted is continued (D-93). */
export function unparkRun(run: ParkedRun, now: number): ParkedRun | InterruptedRun {
  if (run.interruptedBy === null) return { ...run, pendingInteractions: 0, readyAt: now };
  const { startedAt } = run;
  const record = { ...recordOf(run), pendingInteractions: 0 };
  return { ...record, status: 'running', lease: null, continueAt: now, startedAt };
}

/** The agent's process keeps running while a person answers: the run waits under its lease. */
export function waitLive(run: LeasedRun, pendingInteractions: number): Run {
  if (run.status === 'cancelling') return { ...run, pendingInteractions };
  const { lease, startedAt } = run;
  return { ...recordOf(run), status: 'waiting', lease, startedAt, pendingInteractions };
}

/** The agent's process took every answer: the run executes again. */
export function resumeLive(run: LiveWaitingRun): RunningRun {
  return { ...run, status: 'running' };
}

/** One interaction was answered and `pending` are left. A parked run becomes ready after the last one. */
export function interactionAnswered(run: Run, pending: number, now: number): Run {
  if (isParked(run) && pending === 0) return unparkRun(run, now);
  return { ...run, pendingInteractions: pending };
}

/** A leg ended: its text replaces the one before it, its tokens are added. */
export function recordProgress<R extends StartedRun>(
  run: R,
  leg: {
    readonly outputText: string | null;
    readonly usage: TokenUsage | undefined;
    readonly pendingInteractions: number;
  },
): R {
  const { outputText, pendingInteractions } = leg;
  return { ...run, outputText, pendingInteractions, usage: addUsage(run.usage, leg.usage) };
}

function addUsage(known: TokenUsage | null, more: TokenUsage | undefined): TokenUsage | null {
  if (more === undefined) return known;
  return {
    inputTokens: (known?.inputTokens ?? 0) + more.inputTokens,
    outputTokens: (known?.outputTokens ?? 0) + more.outputTokens,
  };
}

export type Cancellation =
  /** It never executed: the caller ends it now. */
  | { readonly kind: 'unstarted'; readonly run: QueuedRun }
  /** The cancel is to be recorded; the worker that holds the run, or the next one, ends it. */
  | { readonly kind: 'asked'; readonly run: CancellingRun }
  | { readonly kind: 'already'; readonly run: Run };

/** D-24. */
export function cancelRun(run: Run, now: number): Ruling<Cancellation> {
  switch (run.status) {
    case 'queued':
      return accepted({ kind: 'unstarted', run });
    case 'running': {
      const { lease, startedAt } = run;
      const asked = { ...recordOf(run), lease, startedAt };
      return accepted({
        kind: 'asked',
        run: { ...asked, status: 'cancelling', cancelRequestedAt: now },
      });
    }
    case 'waiting': {
      // No leg may be claimed from here on; a parked run has none, so a worker ends it.
      const { lease, startedAt } = run;
      const waited = { ...recordOf(run), pendingInteractions: 0, lease, startedAt };
      return accepted({
        kind: 'asked',
        run: { ...waited, status: 'cancelling', cancelRequestedAt: now },
      });
    }
    case 'cancelling':
    case 'cancelled':
      return accepted({ kind: 'already', run });
    case 'completed':
    case 'failed':
      return refused('run_terminal');
    default:
      return run satisfies never;
  }
}

export type RunOutcome =
  | { readonly status: 'completed' }
  | { readonly status: 'cancelled' }
  | ({ readonly status: 'failed' } & RunError);

export function endRun(
  run: OpenRun,
  outcome: RunOutcome,
  { now, recovered = false }: { readonly now: number; readonly recovered?: boolean },
): EndedRun {
  const end = {
    ...recordOf(run),
    pendingInteractions: 0,
    startedAt: run.status === 'queued' ? null : run.startedAt,
    cancelRequestedAt: cancelTimeOf(run, outcome, now),
    endedAt: now,
    recovered,
  };
  if (outcome.status !== 'failed') return { ...end, status: outcome.status };
  const { status, code, message } = outcome;
  return { ...end, status, error: { code, message } };
}

/** A queued run that is cancelled ends with the request itself. */
function cancelTimeOf(run: OpenRun, outcome: RunOutcome, now: number): number | null {
  if (run.status === 'cancelling') return run.cancelRequestedAt;
  return run.status === 'queued' && outcome.status === 'cancelled' ? now : null;
}

export function outcomeOf(run: EndedRun): RunOutcome {
  return run.status === 'failed' ? { status: run.status, ...run.error } : { status: run.status };
}

/** D-26: the outcome of a run whose worker died. A recorded cancel is honoured, anything else is an error. */
export function outcomeOfLostWorker(run: OpenRun): RunOutcome {
  if (run.status === 'cancelling') return { status: 'cancelled' };
  return {
    status: 'failed',
    code: 'worker_lost',
    message: 'The process that executed this run ended before the run did.',
  };
}

/** The fields that every state has, without those of the state that the run leaves. */
function recordOf(run: Run): RunRecord {
  return {
    id: run.id,
    organizationId: run.organizationId,
    tenantId: run.tenantId,
    sessionId: run.sessionId,
    agentName: run.agentName,
    number: run.number,
    input: run.input,
    outputText: run.outputText,
    usage: run.usage,
    pendingInteractions: run.pendingInteractions,
    lastSeq: run.lastSeq,
    lastEventAt: run.lastEventAt,
    leaseEpoch: run.leaseEpoch,
    createdAt: run.createdAt,
    losses: run.losses,
    lossesTotal: run.lossesTotal,
    interruptedBy: run.interruptedBy,
  };
}
