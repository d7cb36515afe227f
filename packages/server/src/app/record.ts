import type { RunId, SessionId } from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import { isoTime } from '../domain/iso-time.ts';
import { runNotices, sessionNotices } from '../domain/notice.ts';
import { type RunEventDraft, placeEvents } from '../domain/run/run-event.ts';
import {
  type LeaseGrant,
  type Run,
  type RunningRun,
  type WaitingForWorker,
  attemptOf,
  hasSameStatus,
  isInterrupted,
  isReady,
  leaseRun,
} from '../domain/run/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { TokenUsage } from '../domain/usage/usage.ts';
import { type Session, changeTime, runDispatched } from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { refuseExhausted } from './usage/budgets.ts';
import { announce } from './feed/notices.ts';
import type { Services } from './services.ts';

export interface RunAddress {
  readonly scope: TenantScope;
  readonly sessionId: SessionId;
  readonly runId: RunId;
}

export interface RunInSession<R extends Run = Run> {
  readonly session: Session;
  readonly run: R;
}

/** Locks the session, then the run. Every transaction uses this order, so two cannot deadlock. */
export async function lockRun(
  tx: StoreTransaction,
  at: RunAddress,
): Promise<RunInSession | undefined> {
  // In this order, in one message.
  const [session, run] = await Promise.all([
    tx.sessions.lock(at.scope, at.sessionId),
    tx.runs.lock(at.runId),
  ]);
  return inSession(session, run);
}

/** Non-blocking variant (SKIP LOCKED): undefined when another transaction holds the session. */
export async function tryLockRun(
  tx: StoreTransaction,
  at: RunAddress,
): Promise<RunInSession | undefined> {
  const session = await tx.sessions.tryLock(at.scope, at.sessionId);
  return inSession(session, session && (await tx.runs.lock(at.runId)));
}

function inSession(session: Session | undefined, run: Run | undefined): RunInSession | undefined {
  return session && run && run.sessionId === session.id ? { session, run } : undefined;
}

/** The next state of a run, with the session and the events that change in the same transaction. */
export interface RunMove<R extends Run = Run> {
  readonly run: R;
  /** Absent when the session does not change. */
  readonly session?: Session | undefined;
  readonly events: readonly RunEventDraft[];
}

export interface LegStarting {
  readonly lease: LeaseGrant;
  readonly now: number;
  /** Whether the agent is another one than in the previous leg (D-99). */
  readonly isOtherAgent?: boolean;
  /** The agent that the leg is to execute; undefined where its folder is gone. */
  readonly agent: Pick<Agent, 'digest'> | undefined;
}

/** Leases the run for its next leg. The first leg emits `run_started`, every other one `run_resumed` (D-87). */
export function startLegMove(
  { run, session }: RunInSession<WaitingForWorker>,
  { lease, now, isOtherAgent = false, agent }: LegStarting,
): RunMove<RunningRun> & { readonly session: Session } {
  const agentDigest = agent?.digest ?? null;
  return {
    run: leaseRun(run, { ...lease, agentDigest }, changeTime(session, now)),
    session: runDispatched(session, run.id, now),
    events: [firstEvent(run, { isOtherAgent, machine: lease.machine, agentDigest })],
  };
}

interface LegBeginning {
  readonly isOtherAgent: boolean;
  readonly machine: string;
  readonly agentDigest: string | null;
}

function firstEvent(
  run: WaitingForWorker,
  { isOtherAgent, machine, agentDigest }: LegBeginning,
): RunEventDraft {
  const version = agentDigest === null ? {} : { agent_digest: agentDigest };
  if (run.status === 'queued') return { type: 'run_started', data: { run_id: run.id, ...version } };
  const reason = run.interruptedBy ?? 'answered';
  const workspace = workspaceOf(run, machine);
  return {
    type: 'run_resumed',
    data: {
      run_id: run.id,
      attempt: attemptOf(run),
      reason,
      ...(workspace === undefined ? {} : { workspace }),
      ...(isOtherAgent ? { agent_changed: true } : {}),
      ...version,
    },
  };
}

/** The session folder of the next leg, as far as this machine differs from the one of the previous leg. */
export function workspaceOf(
  { lastMachine, isBehind }: WaitingForWorker,
  machine: string,
): 'same' | 'restored' | 'behind' | undefined {
  if (isBehind) return 'behind';
  if (lastMachine === null) return undefined;
  return lastMachine === machine ? 'same' : 'restored';
}

type Recorder = Pick<Services, 'clock' | 'fanout' | 'metrics'>;

/** What the budgets of an organization that has some have to know of a new run. */
export interface BudgetCheck {
  readonly isUnpriced: boolean;
}

/** Inserts a new run, with its session's row and its first events, unless a budget is used up (D-132). */
export async function recordNew<R extends Run>(
  services: Recorder,
  tx: StoreTransaction,
  { move, check }: { readonly move: RunMove<R>; readonly check: BudgetCheck | undefined },
): Promise<R> {
  const { session, events } = move;
  const run = { ...move.run, lastSeq: events.length };
  const guard = check && { run, now: services.clock.now(), ...check };
  const isInserted = await tx.runs.insert(run, guard);
  if (guard !== undefined && !isInserted) return refuseExhausted(tx, guard);
  writeSessionAndEvents(services, tx, { run, session, events });
  const notices = runNotices({ before: undefined, after: run, events, at: run.createdAt });
  announce(services, tx, { tenantId: run.tenantId, notices });
  return run;
}

/**
 * The only way a run changes: writes its row, its session's row and the events of the change in one
 * transaction, on condition that the row is still the one that was seen. Readers are woken after the commit.
 */
export function recordMove<R extends Run>(
  services: Recorder,
  tx: StoreTransaction,
  { seen, move }: { readonly seen: RunInSession; readonly move: RunMove<R> },
): R {
  const { session, events } = move;
  const at = Math.max(services.clock.now(), seen.run.lastEventAt);
  const run = {
    ...move.run,
    lastSeq: seen.run.lastSeq + events.length,
    lastEventAt: events.length === 0 ? seen.run.lastEventAt : at,
    statusAt: hasSameStatus(move.run, seen.run) ? seen.run.statusAt : at,
  };
  tx.runs.save(run, seen.run);
  writeSessionAndEvents(services, tx, { run, session, events });
  const notices = runNotices({ before: seen.run, after: run, events, at });
  if (session !== undefined) notices.push(...sessionNotices(seen.session, session, at));
  announce(services, tx, { tenantId: run.tenantId, notices });
  return run;
}

/** Inserts a new session. */
export function recordNewSession(
  services: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  session: Session,
): void {
  tx.sessions.insert(session);
  const notices = sessionNotices(undefined, session, session.createdAt);
  announce(services, tx, { tenantId: session.tenantId, notices });
}

/** Saves a session that changed on its own, without a run. */
export function recordSession(
  services: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  { seen, next }: { readonly seen: Session; readonly next: Session },
): void {
  tx.sessions.save(next);
  const notices = sessionNotices(seen, next, next.updatedAt);
  announce(services, tx, { tenantId: next.tenantId, notices });
}

/** Saves the session, appends the events and schedules the wake-ups. The run's row is written already. */
function writeSessionAndEvents(
  { fanout, metrics }: Recorder,
  tx: StoreTransaction,
  { run, session, events }: RunMove,
): void {
  if (session !== undefined) tx.sessions.save(session);
  const after = run.lastSeq - events.length;
  insertEvents(tx, run, { drafts: events, after, at: run.lastEventAt });
  if (isReady(run) || isInterrupted(run)) tx.onCommit(() => fanout.wake('work'));
  if (events.length === 0) return;
  tx.onCommit(() => {
    fanout.wake(`run:${run.id}`);
    metrics.eventsAppended.add(events.length);
  });
}

export interface Holder extends RunAddress {
  /** Epoch of the lease: a worker that lost its lease has an old one and can write nothing. */
  readonly epoch: number;
}

export interface Append {
  readonly holder: Holder;
  readonly drafts: readonly RunEventDraft[];
  /** Added to the usage of the run. */
  readonly usage?: TokenUsage | null;
}

/**
 * Appends events under the worker's lease (the hot path). Returns the last sequence number, or undefined when
 * the lease is lost or the run has ended.
 */
export async function appendEvents(
  { clock, fanout, metrics }: Recorder,
  tx: StoreTransaction,
  { holder, drafts, usage = null }: Append,
): Promise<number | undefined> {
  const tail = await tx.runs.extendLog({
    runId: holder.runId,
    epoch: holder.epoch,
    count: drafts.length,
    now: clock.now(),
    usage,
  });
  if (tail === undefined || drafts.length === 0) return tail?.lastSeq;
  const place = { id: holder.runId, sessionId: holder.sessionId, tenantId: holder.scope.tenantId };
  insertEvents(tx, place, { drafts, after: tail.lastSeq - drafts.length, at: tail.at });
  tx.onCommit(() => {
    fanout.wake(`run:${holder.runId}`);
    metrics.eventsAppended.add(drafts.length);
  });
  return tail.lastSeq;
}

function insertEvents(
  tx: StoreTransaction,
  run: Pick<Run, 'id' | 'sessionId' | 'tenantId'>,
  { drafts, after, at }: { drafts: readonly RunEventDraft[]; after: number; at: number },
): void {
  if (drafts.length === 0) return;
  const createdAt = isoTime(at);
  const position = { sessionId: run.sessionId, runId: run.id, after, createdAt };
  tx.runEvents.append(run.tenantId, run.id, placeEvents(drafts, position));
}
