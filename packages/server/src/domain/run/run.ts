import { type RunStatus, isTerminalRunStatus } from '@convoke/contract';
import type { Json } from '../json.ts';
import { noCeiling } from '../usage/budget.ts';
import {
  type Lease,
  type RunError,
  type RunFields,
  type RunIdentity,
  type RunProgress,
  type RunRecovery,
  type RunState,
  newProgress,
  newRecovery,
  newState,
} from './run-parts.ts';

/**
 * A run is one piece of work inside a session, executed as a series of legs.
 *
 * - `queued`: accepted, not yet handed to an agent.
 * - `running`: a leg executes under a lease. Or it was interrupted, has no lease, and is to be continued from
 *   `continueAt` on. Or it is parked: it waits for a time, a message or a called run, and nothing executes until that
 *   has come.
 * - `waiting`: a person has to answer. Parked: no leg executes until every interaction is answered, or until something
 *   else that it waits for has come. Live: the agent's process waits under its lease.
 * - `cancelling`: a cancel is recorded, so it survives a crash, and the run has not ended yet. A parked run
 *   has no lease here: a worker ends it.
 * - `completed`, `failed`, `cancelled`: terminal, entered together with the one terminal event.
 *
 * `readyAt` is set when a worker should claim the run: it is the head of its session's queue, or what it was parked
 * for has come. `leaseEpoch` rises with every claim and is a condition of every later write,
 * so a worker that lost its lease can no longer write (fencing).
 */
export type Run = OpenRun | EndedRun;
export type OpenRun = QueuedRun | StartedRun;
/** Handed to an agent and not ended. */
export type StartedRun = RunningRun | InterruptedRun | ParkedRun | LiveWaitingRun | CancellingRun;
/** A worker may claim it, now or later. */
export type WaitingForWorker = QueuedRun | ParkedRun | InterruptedRun;
export type EndedRun = FinishedRun | FailedRun;

/** A run under a lease: a leg executes. */
export type LeasedRun = RunningRun | LiveWaitingRun | (CancellingRun & { readonly lease: Lease });

/** The fields of the state where nothing but `Has` applies. */
type In<Status extends RunStatus, Has extends Partial<RunState>> = RunIdentity &
  RunProgress &
  RunRecovery &
  Omit<Unset, keyof Has> &
  Has & { readonly status: Status };

/** A cancel that was asked for stays known in every later state. */
type Unset = Pick<RunState, 'cancelledBy'> & {
  readonly [Field in Exclude<keyof RunState, 'status' | 'cancelledBy'>]: Extract<
    RunState[Field],
    null | false
  >;
};

interface Started {
  readonly startedAt: number;
}

interface Ended {
  readonly startedAt: number | null;
  readonly cancelRequestedAt: number | null;
  readonly endedAt: number;
  readonly recovered: boolean;
}

export type QueuedRun = In<'queued', { readonly readyAt: number | null }>;
export type RunningRun = In<'running', Started & { readonly lease: Lease }>;
export type InterruptedRun = In<'running', Started & { readonly continueAt: number }>;
/** Nothing executes until what it waits for has come: with a status of its own for people (D-851). */
export type ParkedRun = In<'waiting' | 'running', Started & { readonly readyAt: number | null }>;
export type LiveWaitingRun = In<'waiting', Started & { readonly lease: Lease }>;
export type CancellingRun = In<
  'cancelling',
  Started & { readonly lease: Lease | null; readonly cancelRequestedAt: number }
>;
export type FinishedRun = In<'completed' | 'cancelled', Ended>;
export type FailedRun = In<'failed', Ended & { readonly error: RunError }>;

const newIdentity = {
  createdBy: null,
  preview: '',
  labels: {},
  messageId: null,
  ceiling: noCeiling,
  ancestors: null,
};

type Optional = keyof typeof newIdentity;
export type NewRun = Omit<RunIdentity, 'createdAt' | Optional> &
  Partial<Pick<RunIdentity, Optional>>;

/** A new run without its identity and times. Copied whole: merging its parts takes three times as long (D-781). */
const blank = {
  ...newIdentity,
  ...newProgress,
  ...newRecovery,
  ...newState,
  status: 'queued',
} as const;

export function openRun(
  identity: NewRun,
  { isHead, now }: { readonly isHead: boolean; readonly now: number },
): QueuedRun {
  const times = {
    createdAt: now,
    lastEventAt: now,
    statusAt: now,
    readyAt: isHead ? now : null,
  };
  // `Object.assign` adds fields by name: after a dozen, V8 makes the object a hash table, and each copy takes 15 µs.
  return queuedRun({ ...blank, ...identity, ...times });
}

/** Fields that are known to be those of a queued run: of a new one, or of a row that was read as queued. */
export function queuedRun(run: RunFields): QueuedRun {
  return isRun(run) && run.status === 'queued' ? run : misfit(run);
}

/** Fields that are known to be those of a run, because they were saved as one. */
export function storedRun(run: RunFields): Run {
  return isRun(run) ? run : misfit(run);
}

function misfit({ id, status }: RunFields): never {
  throw new Error(`the fields of run ${id} do not fit the status ${status}`);
}

/** Whether the fields fit their status, as those of a stored run do. */
function isRun(run: RunFields): run is Run {
  switch (run.status) {
    case 'queued':
      return run.startedAt === null;
    case 'running':
    case 'waiting':
      return run.startedAt !== null;
    case 'cancelling':
      return run.startedAt !== null && run.cancelRequestedAt !== null;
    case 'completed':
    case 'cancelled':
      return run.endedAt !== null;
    case 'failed':
      return run.endedAt !== null && run.error !== null;
    default:
      return run.status satisfies never;
  }
}

/** Whether readers are told the same of both: the status, and how many requests are open. */
export function hasSameStatus(run: Run, other: Run): boolean {
  return run.status === other.status && run.pendingInteractions === other.pendingInteractions;
}

export function isEnded(run: Run): run is EndedRun {
  return isTerminalRunStatus(run.status);
}

export function isLeased(run: Run): run is LeasedRun {
  return run.lease !== null;
}

export function isParked(run: Run): run is ParkedRun {
  const hasStarted = run.status === 'waiting' || run.status === 'running';
  return hasStarted && run.lease === null && run.continueAt === null;
}

/** True when a worker may claim the run. */
export function isReady(run: Run): run is (QueuedRun | ParkedRun) & { readonly readyAt: number } {
  return run.readyAt !== null;
}

export function isInterrupted(run: Run): run is InterruptedRun {
  return run.status === 'running' && run.continueAt !== null;
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

/** A lease for an agent as it is now. */
export interface LegGrant extends LeaseGrant {
  readonly agentDigest: string | null;
}

/** A worker claimed the run: for its first leg, after answers, or after an interruption. */
export function leaseRun(run: WaitingForWorker, lease: LegGrant, now: number): RunningRun {
  return {
    ...run,
    interruptedBy: null,
    interruptedAt: null,
    agentDigest: lease.agentDigest,
    lastMachine: lease.machine,
    holdUntil: null,
    isBehind: false,
    legStartedAt: now,
    status: 'running',
    lease: { owner: lease.owner, expiresAt: lease.expiresAt },
    leaseEpoch: run.leaseEpoch + 1,
    readyAt: null,
    continueAt: null,
    startedAt: run.startedAt ?? now,
  };
}

/** The leg stopped working: its time counts. */
export function legStopped(run: Run, at: number): Pick<RunProgress, 'executedMs' | 'legStartedAt'> {
  return { executedMs: executedMsOf(run, at), legStartedAt: null };
}

/** How long the run has executed in all (D-95). */
export function executedMsOf({ executedMs, legStartedAt }: RunProgress, now: number): number {
  return executedMs + (legStartedAt === null ? 0 : Math.max(now - legStartedAt, 0));
}

/** From the second loss in a row: it may be the run that ends its servers (D-90). */
export function isSuspect({ losses }: Pick<RunRecovery, 'losses'>): boolean {
  return losses >= 2;
}

/** The number of the current attempt, from 1. */
export function attemptOf(run: Run): number {
  return run.lossesTotal + 1;
}

/** The leg ended `waiting`: the lease is released and nothing executes. */
export function parkRun(run: StartedRun, now: number): ParkedRun {
  const isAsleep = run.openWaits > 0 && run.pendingInteractions === 0;
  return {
    ...run,
    ...legStopped(run, now),
    status: isAsleep ? 'running' : 'waiting',
    lease: null,
    readyAt: null,
    continueAt: null,
    cancelRequestedAt: null,
  };
}

/** What it waits for has come: a worker may start the next leg. A run that was interrupted is continued (D-93). */
export function unparkRun(run: ParkedRun, now: number): ParkedRun | InterruptedRun {
  if (run.interruptedBy === null) return { ...run, readyAt: run.readyAt ?? now };
  return { ...run, status: 'running', readyAt: null, continueAt: now };
}

/** The agent's process keeps running while a person answers: the run waits under its lease. */
export function waitLive(run: LeasedRun, pendingInteractions: number, now: number): Run {
  if (run.status === 'cancelling') return { ...run, pendingInteractions };
  return { ...run, ...legStopped(run, now), status: 'waiting', pendingInteractions };
}

/** The agent's process took every answer: the run executes again. */
export function resumeLive(run: LiveWaitingRun, now: number): RunningRun {
  return { ...run, status: 'running', legStartedAt: now };
}

/** One interaction was answered and `pending` are left. A parked run becomes ready after the last one. */
export function interactionAnswered(run: Run, pending: number, now: number): Run {
  const left = { ...run, pendingInteractions: pending };
  return isParked(left) && pending === 0 ? unparkRun(left, now) : left;
}

/**
 * A time, a message or the end of a called run has come. A parked run becomes ready at once, because only its
 * program knows what it waits for first (D-853). One that was interrupted hears a person about that first.
 */
export function waitSettled(run: Run, now: number): Run {
  const left = { ...run, openWaits: run.openWaits - 1 };
  const isHeld = left.interruptedBy !== null && left.pendingInteractions > 0;
  return isParked(left) && !isHeld ? unparkRun(left, now) : left;
}

export type RunOutcome =
  /** `output`: the value that the agent returned (D-565). */
  | { readonly status: 'completed'; readonly output?: Json | undefined }
  | { readonly status: 'cancelled' }
  | ({ readonly status: 'failed' } & RunError);

export function endRun(
  run: OpenRun,
  outcome: RunOutcome,
  { now, recovered = false }: { readonly now: number; readonly recovered?: boolean },
): EndedRun {
  const end = {
    ...run,
    executedMs: executedMsOf(run, now),
    legStartedAt: null,
    interruptedAt: null,
    pendingInteractions: 0,
    openWaits: 0,
    lease: null,
    readyAt: null,
    continueAt: null,
    cancelRequestedAt: cancelTimeOf(run, outcome, now),
    endedAt: now,
    recovered,
  };
  if (outcome.status === 'completed') {
    const output = outcome.output === undefined ? null : JSON.stringify(outcome.output);
    return { ...end, status: outcome.status, output };
  }
  if (outcome.status === 'cancelled') return { ...end, status: outcome.status };
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
