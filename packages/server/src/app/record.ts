import type { RunId, SessionId } from '@convoke/contract';
import { type RunEventDraft, placeEvents, terminalEvent } from '../domain/run-event.ts';
import { type Lease, type Run, type RunOutcome, endRun, leaseRun } from '../domain/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import { type Session, runDispatched, runEnded } from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import type { Services } from './services.ts';

export interface RunAddress {
  readonly scope: TenantScope;
  readonly sessionId: SessionId;
  readonly runId: RunId;
}

export interface RunInSession {
  readonly session: Session;
  readonly run: Run;
}

/** Session first, run second, everywhere: two transactions can then never wait for each other. */
export async function lockRun(
  tx: StoreTransaction,
  at: RunAddress,
): Promise<RunInSession | undefined> {
  return runIn(await tx.sessions.lock(at.scope, at.sessionId), tx, at);
}

/** The same for who has other things to do while somebody else holds the session. */
export async function tryLockRun(
  tx: StoreTransaction,
  at: RunAddress,
): Promise<RunInSession | undefined> {
  return runIn(await tx.sessions.tryLock(at.scope, at.sessionId), tx, at);
}

async function runIn(
  session: Session | undefined,
  tx: StoreTransaction,
  at: RunAddress,
): Promise<RunInSession | undefined> {
  const run = session && (await tx.runs.lock(at.runId));
  return session && run && run.sessionId === session.id ? { session, run } : undefined;
}

export interface RunMove {
  readonly run: Run;
  /** Absent when the session is as it was. */
  readonly session?: Session;
  readonly events: readonly RunEventDraft[];
}

/** Leases the run for its next leg: the first one moves the session on and emits `run_started`. */
export function startLegMove({ run, session }: RunInSession, lease: Lease, now: number) {
  const isFirst = run.status === 'queued';
  return {
    run: leaseRun(run, lease, now),
    session: runDispatched(session, run.id, now),
    events: isFirst ? [{ type: 'run_started', data: { run_id: run.id } }] : [],
  } satisfies RunMove;
}

type Recorder = Pick<Services, 'clock' | 'fanout' | 'metrics'>;

/** A run begins to be: as `recordMove`, for a row that nobody can have seen. */
export async function recordNew(
  services: Recorder,
  tx: StoreTransaction,
  move: RunMove,
): Promise<Run> {
  const run = { ...move.run, lastSeq: move.events.length };
  await tx.runs.insert(run);
  await writeSessionAndEvents(services, tx, { ...move, run });
  return run;
}

/**
 * The one way a run changes: its row, its session's row and the events that tell of it, in one
 * transaction, conditional on the run being what was seen. Readers are woken once it is durable.
 */
export async function recordMove(
  services: Recorder,
  tx: StoreTransaction,
  { seen, move }: { readonly seen: RunInSession; readonly move: RunMove },
): Promise<Run> {
  const at = Math.max(services.clock.now(), seen.run.lastEventAt);
  const next: Run = {
    ...move.run,
    lastSeq: seen.run.lastSeq + move.events.length,
    lastEventAt: move.events.length === 0 ? seen.run.lastEventAt : at,
  };
  if (!(await tx.runs.save(next, seen.run))) {
    throw new Error(`run ${next.id} changed while its row was locked`);
  }
  await writeSessionAndEvents(services, tx, { ...move, run: next });
  return next;
}

/** What stands beside the run's row, which is written already. */
async function writeSessionAndEvents(
  { fanout, metrics }: Recorder,
  tx: StoreTransaction,
  { run, session, events }: RunMove,
): Promise<void> {
  if (session !== undefined) await tx.sessions.save(session);
  const after = run.lastSeq - events.length;
  await insertEvents(tx, run, { drafts: events, after, at: run.lastEventAt });
  if (run.readyAt !== null) tx.onCommit(() => fanout.wake('work'));
  if (events.length === 0) return;
  tx.onCommit(() => {
    fanout.wake(`run:${run.id}`);
    metrics.eventsAppended.add(events.length);
  });
}

/** Ends a run: terminal event, open interactions closed, the session freed, the next in line made ready. */
export async function recordEnd(
  services: Recorder,
  tx: StoreTransaction,
  { seen, outcome, before = [], recovered = false }: RunEnd,
): Promise<Run> {
  const now = services.clock.now();
  const { run, session } = seen;
  if (run.pendingInteractions > 0) await tx.interactions.cancelPending(run.id);
  const freed = session.currentRunId === run.id ? runEnded(session, now) : session;
  const ended = await recordMove(services, tx, {
    seen,
    move: {
      run: endRun(run, outcome, now),
      session: freed,
      events: [...before, terminalEvent(run.id, outcome, { recovered })],
    },
  });
  tx.onCommit(() => {
    services.metrics.runsEnded.add(1, ended.status, ended.errorCode ?? '');
    if (recovered) services.metrics.runsRecovered.add(1);
  });
  if (freed.currentRunId === null && freed.queuedRuns > 0) {
    await tx.runs.readyNext(freed.id, now);
    tx.onCommit(() => services.fanout.wake('work'));
  }
  return ended;
}

/** Ends runs that never executed and never will; `session` counts without them already. */
export async function recordQueueEnd(
  services: Recorder,
  tx: StoreTransaction,
  { session, queue }: { readonly session: Session; readonly queue: readonly Run[] },
): Promise<void> {
  const cancelRequestedAt = services.clock.now();
  for (const run of queue) {
    const seen = { session, run: { ...run, cancelRequestedAt } };
    await recordEnd(services, tx, { seen, outcome: { status: 'cancelled' } });
  }
}

export interface RunEnd {
  readonly seen: RunInSession;
  readonly outcome: RunOutcome;
  /** What happened just before the end and has not been told yet. */
  readonly before?: readonly RunEventDraft[];
  readonly recovered?: boolean;
}

export interface Holder extends RunAddress {
  /** The lease's epoch: a worker that was given up holds an old one and can write nothing. */
  readonly epoch: number;
}

/**
 * The hot path: adds events under the worker's lease. The last sequence number, or undefined when the lease
 * is lost or the run is over.
 */
export async function appendEvents(
  { clock, fanout, metrics }: Recorder,
  tx: StoreTransaction,
  { holder, drafts }: { readonly holder: Holder; readonly drafts: readonly RunEventDraft[] },
): Promise<number | undefined> {
  const tail = await tx.runs.extendLog({
    runId: holder.runId,
    epoch: holder.epoch,
    count: drafts.length,
    now: clock.now(),
  });
  if (tail === undefined || drafts.length === 0) return tail?.lastSeq;
  const place = { id: holder.runId, sessionId: holder.sessionId, tenantId: holder.scope.tenantId };
  await insertEvents(tx, place, { drafts, after: tail.lastSeq - drafts.length, at: tail.at });
  tx.onCommit(() => {
    fanout.wake(`run:${holder.runId}`);
    metrics.eventsAppended.add(drafts.length);
  });
  return tail.lastSeq;
}

async function insertEvents(
  tx: StoreTransaction,
  run: Pick<Run, 'id' | 'sessionId' | 'tenantId'>,
  { drafts, after, at }: { drafts: readonly RunEventDraft[]; after: number; at: number },
): Promise<void> {
  if (drafts.length === 0) return;
  const createdAt = new Date(at).toISOString();
  const position = { sessionId: run.sessionId, runId: run.id, after, createdAt };
  await tx.runEvents.append(run.tenantId, run.id, placeEvents(drafts, position));
}
