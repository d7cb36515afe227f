import {
  type ClientId,
  type Labels,
  type OrganizationId,
  type RunErrorCode,
  type RunId,
  type SessionId,
  type TenantId,
  type interruptionReasons,
  isTerminalRunStatus,
} from '@convoke/contract';
import { type Ceiling, noCeiling } from '../usage/budget.ts';
import type { TokenUsage } from '../usage/usage.ts';

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

export interface RunRecord {
  readonly id: RunId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agentName: string;
  /** The client that started it, and the client or person; null for runs that are older than these fields. */
  readonly clientId: ClientId | null;
  readonly createdBy: string | null;
  /** The client or person that asked to cancel it. */
  readonly cancelledBy: string | null;
  readonly preview: string;
  readonly labels: Labels;
  readonly number: number;
  /** The request's `input`, as JSON text. */
  readonly input: string;
  readonly outputText: string | null;
  readonly usage: TokenUsage | null;
  /** Whether a message of the model was cut, so that more was used than `usage` says (D-97). */
  readonly isUsagePartial: boolean;
  readonly ceiling: Ceiling;
  readonly pendingInteractions: number;
  readonly lastSeq: number;
  readonly lastEventAt: number;
  readonly leaseEpoch: number;
  readonly createdAt: number;
  /** Workers lost since the last recovery point. */
  readonly losses: number;
  readonly lossesTotal: number;
  /** Why and when the last leg was interrupted; null once the run was continued. */
  readonly interruptedBy: InterruptionReason | null;
  readonly interruptedAt: number | null;
  /** Time that the legs before this one executed (D-95). */
  readonly executedMs: number;
  /** The machine that executed its last leg. */
  readonly lastMachine: string | null;
  /** Epoch of the last leg whose changes of the session folder are archived (D-91). */
  readonly savedEpoch: number;
  /** While set, only the last machine may continue the run: it has files that no archive has. */
  readonly holdUntil: number | null;
  /** The run continues with the files as they were archived, although later ones are lost. */
  readonly isBehind: boolean;
  /** Since when its leg works; null between legs, and while a live runtime waits for a person. */
  readonly legStartedAt: number | null;
}

/** Why a run was interrupted (D-87). */
export type InterruptionReason = (typeof interruptionReasons)[number];

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
  'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'agentName' | 'clientId' | 'number' | 'input'
> &
  Partial<Pick<RunRecord, 'createdBy' | 'preview' | 'labels' | 'ceiling'>>;

export function openRun(
  identity: NewRun,
  { isHead, now }: { readonly isHead: boolean; readonly now: number },
): QueuedRun {
  const { createdBy = null, preview = '', labels = {}, ceiling = noCeiling } = identity;
  // Without `...identity`: V8 sets each field behind a spread by a call of its own.
  return {
    id: identity.id,
    organizationId: identity.organizationId,
    tenantId: identity.tenantId,
    sessionId: identity.sessionId,
    agentName: identity.agentName,
    clientId: identity.clientId,
    createdBy,
    cancelledBy: null,
    preview,
    labels,
    number: identity.number,
    input: identity.input,
    status: 'queued',
    outputText: null,
    usage: null,
    isUsagePartial: false,
    ceiling,
    pendingInteractions: 0,
    lastSeq: 0,
    lastEventAt: now,
    readyAt: isHead ? now : null,
    leaseEpoch: 0,
    createdAt: now,
    losses: 0,
    lossesTotal: 0,
    interruptedBy: null,
    interruptedAt: null,
    executedMs: 0,
    lastMachine: null,
    savedEpoch: 0,
    holdUntil: null,
    isBehind: false,
    legStartedAt: null,
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
export function isClaimable(
  run: Run,
  { now, machine }: { readonly now: number; readonly machine: string },
): run is WaitingForWorker {
  if (isReady(run)) return true;
  if (!isInterrupted(run)) return false;
  return run.holdUntil === null ? run.continueAt <= now : run.lastMachine === machine;
}

/** A lease, and the machine that executes the leg. */
export interface LeaseGrant extends Lease {
  readonly machine: string;
}

/** A worker claimed the run: for its first leg, after answers, or after an interruption. */
export function leaseRun(run: WaitingForWorker, lease: LeaseGrant, now: number): RunningRun {
  return {
    ...recordOf(run),
    interruptedBy: null,
    interruptedAt: null,
    lastMachine: lease.machine,
    holdUntil: null,
    isBehind: false,
    legStartedAt: now,
    status: 'running',
    lease: { owner: lease.owner, expiresAt: lease.expiresAt },
    leaseEpoch: run.leaseEpoch + 1,
    startedAt: run.status === 'queued' ? now : run.startedAt,
  };
}

/** The leg stopped working: its time counts. */
export function legStopped(run: Run, at: number): Pick<RunRecord, 'executedMs' | 'legStartedAt'> {
  return { executedMs: executedMsOf(run, at), legStartedAt: null };
}

/** How long the run has executed in all (D-95). */
export function executedMsOf({ executedMs, legStartedAt }: RunRecord, now: number): number {
  return executedMs + (legStartedAt === null ? 0 : Math.max(now - legStartedAt, 0));
}

/** From the second loss in a row: it may be the run that ends its servers (D-90). */
export function isSuspect({ losses }: Pick<RunRecord, 'losses'>): boolean {
  return losses >= 2;
}

/** The number of the current attempt, from 1. */
export function attemptOf(run: Run): number {
  return run.lossesTotal + 1;
}

/** The leg ended `waiting`: the lease is released and nothing executes. */
export function parkRun(run: StartedRun, now: number): ParkedRun {
  const record = { ...recordOf(run), ...legStopped(run, now) };
  return { ...record, status: 'waiting', lease: null, readyAt: null, startedAt: run.startedAt };
}

/** Every interaction is answered: a worker may start the next leg. A run that was interrupted is continued (D-93). */
export function unparkRun(run: ParkedRun, now: number): ParkedRun | InterruptedRun {
  if (run.interruptedBy === null) return { ...run, pendingInteractions: 0, readyAt: now };
  const { startedAt } = run;
  const record = { ...recordOf(run), pendingInteractions: 0 };
  return { ...record, status: 'running', lease: null, continueAt: now, startedAt };
}

/** The agent's process keeps running while a person answers: the run waits under its lease. */
export function waitLive(run: LeasedRun, pendingInteractions: number, now: number): Run {
  if (run.status === 'cancelling') return { ...run, pendingInteractions };
  const { lease, startedAt } = run;
  const record = { ...recordOf(run), ...legStopped(run, now) };
  return { ...record, status: 'waiting', lease, startedAt, pendingInteractions };
}

/** The agent's process took every answer: the run executes again. */
export function resumeLive(run: LiveWaitingRun, now: number): RunningRun {
  return { ...run, status: 'running', legStartedAt: now };
}

/** One interaction was answered and `pending` are left. A parked run becomes ready after the last one. */
export function interactionAnswered(run: Run, pending: number, now: number): Run {
  if (isParked(run) && pending === 0) return unparkRun(run, now);
  return { ...run, pendingInteractions: pending };
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
    executedMs: executedMsOf(run, now),
    legStartedAt: null,
    interruptedAt: null,
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

/** The fields that every state has, without those of the state that the run leaves. */
export function recordOf(run: Run): RunRecord {
  return {
    id: run.id,
    organizationId: run.organizationId,
    tenantId: run.tenantId,
    sessionId: run.sessionId,
    agentName: run.agentName,
    clientId: run.clientId,
    createdBy: run.createdBy,
    cancelledBy: run.cancelledBy,
    preview: run.preview,
    labels: run.labels,
    number: run.number,
    input: run.input,
    outputText: run.outputText,
    usage: run.usage,
    isUsagePartial: run.isUsagePartial,
    ceiling: run.ceiling,
    pendingInteractions: run.pendingInteractions,
    lastSeq: run.lastSeq,
    lastEventAt: run.lastEventAt,
    leaseEpoch: run.leaseEpoch,
    createdAt: run.createdAt,
    losses: run.losses,
    lossesTotal: run.lossesTotal,
    interruptedBy: run.interruptedBy,
    interruptedAt: run.interruptedAt,
    executedMs: run.executedMs,
    lastMachine: run.lastMachine,
    savedEpoch: run.savedEpoch,
    holdUntil: run.holdUntil,
    isBehind: run.isBehind,
    legStartedAt: run.legStartedAt,
  };
}
