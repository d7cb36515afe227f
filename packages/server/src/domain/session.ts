import {
  type Labels,
  type OrganizationId,
  type RunId,
  type SessionId,
  type SessionStatus,
  type StopMode,
  type TenantId,
  isTerminalSessionStatus,
} from '@convoke/contract';
import { previewOf } from './preview.ts';
import { type Refused, type Ruling, accepted, refused } from './refusal.ts';

/**
 * A session is a conversation with one agent: a session folder, a history, and runs one after another.
 *
 * - `idle`: no run is queued or executes. Entered on create, on resume, and when the last run ends.
 * - `running`: a run executes or is queued, continues after its answers, or is about to end.
 * - `waiting`: the current run waits for a person, so at least one interaction is pending.
 * - `stopping`: a stop was requested and the current run has not ended yet; `stopMode` says what follows.
 * - `stopped`: suspended. Only resume and stop(terminate) leave it.
 * - `failed`, `terminated`: terminal. `failed` means that the session folder is lost, so the session cannot
 *   continue as D-14 promises.
 *
 * Session status always changes in the transaction of the run change that causes it (D-11).
 */
export interface Session {
  readonly id: SessionId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly agentName: string;
  /** Given by a client, else the first words of the first prompt. */
  readonly title: string | null;
  readonly labels: Labels;
  /** Whose accounts its runs use: a user of the product, or a person; null for none (D-591). Never changes. */
  readonly endUser: string | null;
  /** The client or the person that opened it; null for sessions that are older than this field. */
  readonly createdBy: string | null;
  readonly status: SessionStatus;
  readonly statusReason: string | null;
  /** Whether its agent took files when the session was created. */
  readonly filesSupported: boolean;
  /** The run that executes or waits for a person. Queued runs come after it. */
  readonly currentRunId: RunId | null;
  readonly queuedRuns: number;
  /** Number of runs accepted so far, which is the number of the latest one. */
  readonly runCount: number;
  readonly pendingInteractions: number;
  readonly stopMode: StopMode | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly stoppedAt: number | null;
  readonly endedAt: number | null;
}

export function openSession(
  identity: Pick<Session, 'id' | 'organizationId' | 'tenantId' | 'agentName' | 'filesSupported'> &
    Partial<Pick<Session, 'title' | 'labels' | 'createdBy' | 'endUser'>>,
  now: number,
): Session {
  return {
    title: null,
    labels: {},
    createdBy: null,
    endUser: null,
    ...identity,
    status: 'idle',
    statusReason: null,
    currentRunId: null,
    queuedRuns: 0,
    runCount: 0,
    pendingInteractions: 0,
    stopMode: null,
    createdAt: now,
    updatedAt: now,
    stoppedAt: null,
    endedAt: null,
  };
}

const titleCharacters = 80;

/** The session, with the first words of its first prompt as its title if it has none. */
export function titled(session: Session, preview: string): Session {
  if (session.title !== null || session.runCount > 0 || preview === '') return session;
  return { ...session, title: previewOf(preview, titleCharacters) };
}

/** Spec §2, D-241: whether file operations, and `files` in the input of a run, apply to the session now. */
export function acceptsFiles(
  session: Pick<Session, 'filesSupported'>,
  deployment: { readonly fileAttachments: boolean },
): boolean {
  return session.filesSupported && deployment.fileAttachments;
}

/**
 * The time of a change: never before that of the change before, which another server may have stamped. So no run of a
 * session is created or started before the one before it ended (D-03).
 */
export function changeTime({ updatedAt }: Pick<Session, 'updatedAt'>, now: number): number {
  return Math.max(now, updatedAt);
}

/** Whether no run of the session executes, waits or is queued. */
export function isFree({ currentRunId, queuedRuns }: Session): boolean {
  return currentRunId === null && queuedRuns === 0;
}

/** Whether the next queued run may begin: no run of the session executes or waits. */
export function isNextDue({ currentRunId, queuedRuns }: Session): boolean {
  return currentRunId === null && queuedRuns > 0;
}

export interface BusyPolicy {
  readonly onBusy: 'queue' | 'reject';
  readonly queueMax: number;
}

/** D-15, D-23: accepts one more run, or refuses it. */
export function acceptRun(session: Session, policy: BusyPolicy, now: number): Ruling<Session> {
  const closed = refusalOfClosed(session);
  if (closed !== undefined) return closed;
  const isBusy = !isFree(session);
  if (isBusy && policy.onBusy === 'reject') return refused('session_busy');
  // The first run of an idle session is dispatched at once: it does not count as queued.
  const queued = session.currentRunId === null ? session.queuedRuns - 1 : session.queuedRuns;
  if (isBusy && queued >= policy.queueMax) return refused('session_busy');
  return accepted({
    ...session,
    status: session.status === 'waiting' ? 'waiting' : 'running',
    queuedRuns: session.queuedRuns + 1,
    runCount: session.runCount + 1,
    updatedAt: changeTime(session, now),
  });
}

/** A worker claimed the run at the head of the queue, or a resume leg of the current run. */
export function runDispatched(session: Session, runId: RunId, now: number): Session {
  const queuedRuns = session.currentRunId === runId ? session.queuedRuns : session.queuedRuns - 1;
  return {
    ...session,
    status: 'running',
    currentRunId: runId,
    queuedRuns,
    updatedAt: changeTime(session, now),
  };
}

/** The current run's interactions changed: `pendingInteractions` wait for a person now. */
export function interactionsChanged(
  session: Session,
  pendingInteractions: number,
  now: number,
): Session {
  const status = pendingInteractions > 0 ? 'waiting' : 'running';
  return {
    ...session,
    status: session.status === 'stopping' ? 'stopping' : status,
    pendingInteractions,
    updatedAt: changeTime(session, now),
  };
}

/** The executing run ended. A stop that waited for it is now complete. */
export function runEnded(session: Session, now: number): Session {
  const freed = {
    ...session,
    currentRunId: null,
    pendingInteractions: 0,
    updatedAt: changeTime(session, now),
  };
  if (isTerminalSessionStatus(session.status)) return freed;
  if (session.status === 'stopping') return closeSession(freed, now);
  return { ...freed, status: session.queuedRuns > 0 ? 'running' : 'idle' };
}

/** `count` runs were cancelled in the queue. */
export function queuedRunsCancelled(session: Session, count: number, now: number): Session {
  if (count === 0) return session;
  const queuedRuns = session.queuedRuns - count;
  const isIdle = session.currentRunId === null && queuedRuns === 0 && session.status === 'running';
  return {
    ...session,
    queuedRuns,
    status: isIdle ? 'idle' : session.status,
    updatedAt: changeTime(session, now),
  };
}

/** D-13. The caller has already cancelled the queue. A current run keeps the session `stopping`. */
export function stopSession(
  session: Session,
  request: { readonly mode: StopMode; readonly reason?: string | undefined },
  now: number,
): Ruling<Session> {
  if (isTerminalSessionStatus(session.status)) {
    const isDone = session.status === 'terminated' && request.mode === 'terminate';
    return isDone ? accepted(session) : refused('session_terminal');
  }
  const mode = session.stopMode === 'terminate' ? 'terminate' : request.mode;
  if (session.status === 'stopped' && mode === 'suspend') return accepted(session);
  const statusReason = request.reason ?? session.statusReason;
  const asked: Session = {
    ...session,
    stopMode: mode,
    statusReason,
    updatedAt: changeTime(session, now),
  };
  if (session.currentRunId !== null) return accepted({ ...asked, status: 'stopping' });
  return accepted(closeSession(asked, now));
}

/** D-14. Cancels a suspend that is not complete yet. */
export function resumeSession(session: Session, now: number): Ruling<Session> {
  if (isTerminalSessionStatus(session.status)) return refused('session_terminal');
  if (session.status === 'stopping' && session.stopMode === 'terminate') {
    return refused('session_terminal');
  }
  const opened = {
    ...session,
    stopMode: null,
    statusReason: null,
    stoppedAt: null,
    updatedAt: changeTime(session, now),
  };
  if (session.status === 'stopped') return accepted({ ...opened, status: 'idle' });
  if (session.status === 'stopping') return accepted({ ...opened, status: 'running' });
  return accepted(session);
}

export function isUnused(session: Session, before: number): boolean {
  const isResting = session.status === 'idle' || session.status === 'stopped';
  return isResting && session.updatedAt < before;
}

/** D-17: ends a session that was unused for `idleTtlMs`, at the time at which it expired. */
export function expireSession(session: Session, idleTtlMs: number): Session {
  const endedAt = session.updatedAt + idleTtlMs;
  return { ...session, status: 'terminated', statusReason: 'expired', endedAt, updatedAt: endedAt };
}

/** D-17: the session at `now`. Past its `expires_at` it has ended, even before a worker has stored that. */
export function sessionAt(
  session: Session,
  { now, idleTtlMs }: { readonly now: number; readonly idleTtlMs: number },
): Session {
  const isExpired = idleTtlMs > 0 && isUnused(session, now - idleTtlMs);
  return isExpired ? expireSession(session, idleTtlMs) : session;
}

/** The session folder, which holds its history and files, is gone. */
export function loseFolder(session: Session, now: number): Session {
  const at = changeTime(session, now);
  return {
    ...session,
    status: 'failed',
    statusReason: 'workspace_lost',
    stopMode: null,
    endedAt: at,
    updatedAt: at,
  };
}

function closeSession(session: Session, now: number): Session {
  const at = changeTime(session, now);
  const closed = { ...session, pendingInteractions: 0, stopMode: null, updatedAt: at };
  if (session.stopMode === 'terminate') return { ...closed, status: 'terminated', endedAt: at };
  return { ...closed, status: 'stopped', stoppedAt: at };
}

function refusalOfClosed(session: Session): Refused | undefined {
  switch (session.status) {
    case 'failed':
    case 'terminated':
      return refused('session_terminal');
    case 'stopped':
    case 'stopping':
      return refused('session_stopped');
    case 'idle':
    case 'running':
    case 'waiting':
      return undefined;
    default:
      return session.status satisfies never;
  }
}
