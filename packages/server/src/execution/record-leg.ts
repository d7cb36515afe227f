import {
  type Holder,
  type RunInSession,
  appendEvents,
  lockRun,
  recordEnd,
  recordMove,
  recordQueueEnd,
} from '../app/record.ts';
import type { Services } from '../app/services.ts';
import { type FolderState, isArchived, localState } from '../domain/folder-snapshot.ts';
import {
  type LeasedRun,
  type Run,
  type RunOutcome,
  type TokenUsage,
  isEnded,
  isLeased,
  parkRun,
  recordProgress,
  unparkRun,
  waitLive,
} from '../domain/run.ts';
import {
  type Session,
  interactionsChanged,
  loseFolder,
  queuedRunsCancelled,
} from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { type LegNote, type PlacedNote, recordNotes } from './leg-notes.ts';
import { type LegItem, type Raised, isDraft, raiseInteractions } from './raise-interactions.ts';

/** Events and state of a leg since its last record. */
export interface LegBatch {
  readonly items: readonly LegItem[];
  readonly notes: readonly PlacedNote[];
  readonly context: AnnouncedContext | undefined;
  readonly end: LegOutcome | undefined;
}

/** The context that the session has announced, and the state of its folder if that was just created. */
export interface AnnouncedContext {
  readonly text: string;
  readonly snapshot: FolderState | undefined;
}

export type LegOutcome = (
  | RunOutcome
  | { readonly status: 'waiting' }
  /** The session's folder is gone: run and session end together. */
  | { readonly status: 'workspace_lost' }
) & {
  readonly outputText: string | null;
  readonly usage: TokenUsage | undefined;
  /** State of the session folder after the leg, if the leg changed it. */
  readonly snapshot?: FolderState | undefined;
};

export interface LegRecording {
  /** Called when the transaction begins: everything emitted until then belongs to it. */
  readonly take: () => LegBatch;
  readonly waitMs: number;
  /**
   * Last event before this batch, given when the batch was sent before and the answer was lost: only reading shows
   * whether the batch was committed (reliability P13).
   */
  readonly inDoubtAfter: number | undefined;
  /** Workers that the run had lost when the leg was claimed. */
  readonly lossesTotal: number;
}

export interface Recorded {
  /** The last sequence number of the log. */
  readonly lastSeq: number;
  /** Intents of calls that must not start. */
  readonly refused: ReadonlySet<LegNote>;
}

const noneRefused: ReadonlySet<LegNote> = new Set();

/**
 * Records a batch. Undefined when the lease is lost: then nothing was written, and nothing more can be.
 */
export async function recordLeg(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'fanout' | 'metrics'>,
  holder: Holder,
  { take, waitMs, inDoubtAfter, lossesTotal }: LegRecording,
): Promise<Recorded | undefined> {
  return services.store.transaction(async (tx) => {
    const batch = take();
    if (inDoubtAfter !== undefined) {
      // Behind the lock, so that a commit still under way is seen too.
      const seen = await lockRun(tx, holder);
      // Recovery took the run away: events after the batch may be those of another worker.
      if (seen?.run.lossesTotal !== lossesTotal) return undefined;
      const isKnown = await isCommitted(tx, seen.run, inDoubtAfter);
      if (isKnown || (batch.end !== undefined && hasParked(holder, seen.run))) {
        // The wake-up was lost with the answer.
        tx.onCommit(() => services.fanout.wake(`run:${holder.runId}`));
        return { lastSeq: seen.run.lastSeq, refused: noneRefused };
      }
    }
    const seqs = await recordItems(services, tx, { holder, batch, waitMs });
    if (seqs === undefined) return undefined;
    const refused =
      batch.notes.length === 0
        ? noneRefused
        : await recordNotes(tx, {
            holder,
            notes: batch.notes,
            before: seqs.beforeBatch,
            hasLosses: lossesTotal > 0,
          });
    if (batch.context !== undefined) {
      const { text, snapshot } = batch.context;
      await tx.sessions.saveContext(holder.sessionId, text, snapshot);
    }
    const snapshot = batch.end?.snapshot;
    if (snapshot !== undefined) await recordSnapshot(services, tx, { holder, snapshot });
    return { lastSeq: seqs.last, refused };
  });
}

/** The session names the new archive from here on, and its archive before is removed. */
async function recordSnapshot(
  { clock }: Pick<Services, 'clock'>,
  tx: StoreTransaction,
  { holder, snapshot }: { holder: Holder; snapshot: FolderState },
): Promise<void> {
  const { scope, sessionId, runId } = holder;
  const blobOf = (sha256: string) => ({ tenantId: scope.tenantId, ownerId: sessionId, sha256 });
  const before = await tx.sessions.snapshot(sessionId);
  const isStored = !isArchived(snapshot) || (await tx.blobRemovals.keep(blobOf(snapshot)));
  // An archive that was removed meanwhile, after an hour, must not be named: the folder is on this machine only.
  await tx.sessions.saveSnapshot(sessionId, isStored ? snapshot : localState(runId));
  if (before !== null && before !== snapshot && isArchived(before)) {
    await tx.blobRemovals.schedule(blobOf(before), clock.now());
  }
}

/** Only the lease holder and answers to interactions append to the log. */
async function isCommitted(tx: StoreTransaction, run: Run, after: number): Promise<boolean> {
  const bounds = { limit: 1000, maxBytes: 1024 * 1024 };
  const { events } = await tx.runEvents.after(run.id, after, bounds);
  return events.some(({ type }) => type !== 'permission_resolved' && type !== 'user_answered');
}

/**
 * Whether the leg's end was committed without an event: the run is parked. Only the end of this leg releases its lease
 * while the run goes on, and only a parked run is claimed again, under a higher epoch.
 */
function hasParked({ epoch }: Holder, run: Run): boolean {
  return run.leaseEpoch > epoch || (run.leaseEpoch === epoch && !isEnded(run) && !isLeased(run));
}

/** Checks the lease first, even without events to append: a worker that lost it may store nothing. */
async function recordItems(
  services: Pick<Services, 'clock' | 'ids' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { holder, batch, waitMs }: { holder: Holder; batch: LegBatch; waitMs: number },
): Promise<{ readonly last: number; readonly beforeBatch: number } | undefined> {
  if (batch.end === undefined && batch.items.every(isDraft)) {
    const last = await appendEvents(services, tx, { holder, drafts: batch.items });
    return last === undefined ? undefined : { last, beforeBatch: last - batch.items.length };
  }
  const locked = await lockRun(tx, holder);
  if (locked === undefined || !holds(holder, locked.run)) return undefined;
  const { session, run } = locked;
  const seen = { session, run };
  const raised = await raiseInteractions(services, tx, { run, items: batch.items, waitMs });
  const { lastSeq } =
    batch.end === undefined
      ? await recordLiveWaiting(services, tx, { seen, raised })
      : await recordLegEnd(services, tx, { seen, raised, end: batch.end });
  return { last: lastSeq, beforeBatch: run.lastSeq };
}

function holds(holder: Holder, run: Run): run is LeasedRun {
  return run.leaseEpoch === holder.epoch && isLeased(run);
}

/** A live runtime keeps its process while it waits for a person: the lease stays, the status is `waiting`. */
async function recordLiveWaiting(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { seen, raised }: { seen: RunInSession<LeasedRun>; raised: Raised },
): Promise<Run> {
  return recordMove(services, tx, {
    seen,
    move: {
      run: waitLive(seen.run, raised.open),
      session: interactionsChanged(seen.session, raised.open, services.clock.now()),
      events: raised.events,
    },
  });
}

async function recordLegEnd(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { seen, raised, end }: { seen: RunInSession<LeasedRun>; raised: Raised; end: LegOutcome },
): Promise<Run> {
  const { outputText, usage } = end;
  const leg = { outputText, usage, pendingInteractions: raised.open };
  const run = recordProgress(seen.run, leg);
  const now = services.clock.now();
  if (end.status === 'waiting' && run.status !== 'cancelling') {
    const parked = parkRun(run);
    // Answered while the leg was ending: the run can continue at once.
    const isAnswered = raised.open === 0 && (await tx.interactions.unapplied(run.id)).length > 0;
    if (raised.open > 0 || isAnswered) {
      return recordMove(services, tx, {
        seen,
        move: {
          run: isAnswered ? unparkRun(parked, now) : parked,
          session: interactionsChanged(seen.session, raised.open, now),
          events: raised.events,
        },
      });
    }
  }
  const isLost = end.status === 'workspace_lost';
  const session = isLost ? await failSession(services, tx, seen.session) : seen.session;
  return recordEnd(services, tx, {
    seen: { run, session },
    outcome: outcomeOf(run, end),
    before: raised.events,
  });
}

/** Ends the queued runs with the session: they could never execute. */
async function failSession(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  session: Session,
): Promise<Session> {
  const now = services.clock.now();
  const queue = await tx.runs.queued(session.id);
  const failed = loseFolder(queuedRunsCancelled(session, queue.length, now), now);
  await recordQueueEnd(services, tx, { session: failed, queue });
  return failed;
}

/** D-24: once a cancel is recorded, the run ends cancelled, however its leg ended. */
function outcomeOf(run: Run, end: LegOutcome): RunOutcome {
  if (run.status === 'cancelling') return { status: 'cancelled' };
  switch (end.status) {
    case 'waiting':
      return {
        status: 'failed',
        code: 'agent_error',
        message: 'The agent is waiting without having asked anything.',
      };
    case 'workspace_lost':
      return {
        status: 'failed',
        code: 'sandbox_unavailable',
        message: 'The session folder is gone from this machine; open a new session.',
      };
    case 'completed':
    case 'cancelled':
    case 'failed':
      return end;
    default:
      return end satisfies never;
  }
}
