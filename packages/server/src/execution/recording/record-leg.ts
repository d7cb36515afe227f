import {
  type Holder,
  type RunInSession,
  appendEvents,
  lockRun,
  recordMove,
} from '../../app/record.ts';
import { beginNext } from '../../app/runs/begin-run.ts';
import { InlineSlot } from '../../app/runs/inline-slot.ts';
import type { Services } from '../../app/services.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import { recordUsage } from '../../domain/run/run-progress.ts';
import {
  type EndedRun,
  type LeasedRun,
  type Run,
  isEnded,
  isLeased,
  waitLive,
} from '../../domain/run/run.ts';
import { interactionsChanged, isNextDue } from '../../domain/session.ts';
import { type UsageEntry, addUsage } from '../../domain/usage/usage.ts';
import type { CheckpointMaker } from '../../ports/repositories/sessions.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordSnapshot } from '../folders/record-snapshot.ts';
import { chargeUsage } from '../usage/charge-usage.ts';
import { type LegNote, type PlacedNote, recordNotes, refusedIntents } from './leg-notes.ts';
import { type LegItem, type Raised, isDraft, raiseInteractions } from './raise-interactions.ts';
import { type LegOutcome, recordLegEnd } from './record-leg-end.ts';

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

export interface LegRecording {
  /** Called when the transaction begins: everything emitted until then belongs to it. */
  readonly take: () => LegBatch;
  readonly waitMs: number;
  /**
   * Last event before this batch, given when the batch was sent before and the answer was lost: only reading shows
   * whether the batch was committed (D-321).
   */
  readonly inDoubtAfter: number | undefined;
  /** Workers that the run had lost when the leg was claimed. */
  readonly lossesTotal: number;
  /** By what the checkpoints of the leg are made. */
  readonly maker: CheckpointMaker;
}

export interface Recorded {
  /** The last sequence number of the log. */
  readonly lastSeq: number;
  /** Intents of calls that must not start. */
  readonly refused: ReadonlySet<LegNote>;
  /** The ceiling that the batch reached: the run is to end. */
  readonly breach?: string | undefined;
}

const noneRefused: ReadonlySet<LegNote> = new Set();

type RecordingServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'ids'
  | 'fanout'
  | 'metrics'
  | 'prices'
  | 'slots'
  | 'isSingleServer'
  | 'settings'
  | 'agents'
>;

/**
 * Records a batch. Undefined when the lease is lost: then nothing was written, and nothing more can be.
 */
export function recordLeg(
  services: RecordingServices,
  holder: Holder,
  { take, waitMs, inDoubtAfter, lossesTotal, maker }: LegRecording,
): Promise<Recorded | undefined> {
  let next: InlineSlot | undefined;
  const recorded = services.store.transaction(async (tx) => {
    next?.reset();
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
        return {
          lastSeq: seen.run.lastSeq,
          refused: await refusedIntents(tx, holder, batch.notes),
        };
      }
    }
    if (hasOnlyEvents(batch)) {
      // Fast path for plain events: two statements.
      const lastSeq = await appendEvents(services, tx, { holder, drafts: batch.items });
      return lastSeq === undefined ? undefined : { lastSeq, refused: noneRefused };
    }
    const isRepeated = inDoubtAfter !== undefined;
    const entries = await newEntries(tx, holder, { notes: batch.notes, isRepeated });
    const seqs = await recordItems(services, tx, { holder, batch, entries, waitMs });
    if (seqs === undefined) return undefined;
    tx.usage.append(holder, entries, services.clock.now());
    if (entries.length > 0) tx.onCommit(() => countEntries(services, entries));
    const { runId } = holder;
    const breach =
      entries.length === 0 ? undefined : await chargeUsage(services, tx, { runId, entries });
    const refused =
      batch.notes.length === 0
        ? noneRefused
        : await recordNotes(tx, {
            holder,
            notes: batch.notes,
            before: seqs.beforeBatch,
            hasLosses: lossesTotal > 0,
            maker,
          });
    await recordFolders(services, tx, { holder, notes: batch.notes });
    if (batch.context !== undefined) {
      const { text, snapshot } = batch.context;
      tx.sessions.saveContext(holder.sessionId, text, snapshot);
    }
    const { state, snapshot } = batch.end ?? {};
    if (state !== undefined) {
      tx.sessions.saveCheckpoint(holder.sessionId, { text: JSON.stringify(state), ...maker });
    }
    if (snapshot !== undefined) await recordSnapshot(services, tx, { owner: holder, snapshot });
    if (seqs.endedBeforeNext !== undefined) {
      next ??= new InlineSlot(services);
      await beginNext(services, tx, { after: seqs.endedBeforeNext, slot: next });
    }
    return { lastSeq: seqs.last, refused, breach };
  });
  return recorded.catch((error: unknown) => {
    next?.giveUp(error);
    throw error;
  });
}

function hasOnlyEvents(
  batch: LegBatch,
): batch is LegBatch & { readonly items: readonly RunEventDraft[] } {
  const { items, notes, context, end } = batch;
  return notes.length === 0 && context === undefined && end === undefined && items.every(isDraft);
}

/** D-92: the archive that was made for a call is recorded with its intent. */
async function recordFolders(
  services: Pick<Services, 'clock'>,
  tx: StoreTransaction,
  { holder, notes }: { readonly holder: Holder; readonly notes: readonly PlacedNote[] },
): Promise<void> {
  for (const { note } of notes) {
    if (note.kind !== 'begin' || note.snapshot === undefined) continue;
    await recordSnapshot(services, tx, { owner: holder, snapshot: note.snapshot });
    await tx.toolCalls.markSaved({ runId: holder.runId, tenantId: holder.scope.tenantId });
  }
}

function countEntries(
  { metrics }: Pick<Services, 'metrics'>,
  entries: readonly UsageEntry[],
): void {
  for (const { inputTokens, outputTokens, cachedInputTokens, cost } of entries) {
    metrics.usageTokens.add(inputTokens, 'input');
    metrics.usageTokens.add(outputTokens, 'output');
    metrics.usageTokens.add(cachedInputTokens, 'cached_input');
    metrics.usageCost.add((cost?.micros ?? 0) / 1_000_000);
  }
}

/** Usage of the batch. A batch without events that is sent again may have been committed: then the ledger has it. */
async function newEntries(
  tx: StoreTransaction,
  holder: Holder,
  { notes, isRepeated }: { notes: readonly PlacedNote[]; isRepeated: boolean },
): Promise<UsageEntry[]> {
  const entries = notes.flatMap(({ note }) => (note.kind === 'usage' ? [note.entry] : []));
  if (!isRepeated || entries.length === 0) return entries;
  const known = await tx.usage.lastSeq(holder);
  return entries.filter(({ seq }) => seq > known);
}

/** Only the lease holder and answers to interactions append to the log. */
async function isCommitted(tx: StoreTransaction, run: Run, after: number): Promise<boolean> {
  const bounds = { limit: 1000, maxBytes: 1024 * 1024 };
  const { events } = await tx.runEvents.after(run.id, after, bounds);
  return events.some(({ type }) => type !== 'permission_resolved' && type !== 'user_answered');
}

/**
 * Whether the leg's end was committed without an event: the run is parked. Only the end of this leg releases its lease
 * while the run continues, and only a parked run is claimed again, under a higher epoch.
 */
function hasParked({ epoch }: Holder, run: Run): boolean {
  return run.leaseEpoch > epoch || (run.leaseEpoch === epoch && !isEnded(run) && !isLeased(run));
}

interface ItemsOfBatch {
  readonly holder: Holder;
  readonly batch: LegBatch;
  readonly entries: readonly UsageEntry[];
  readonly waitMs: number;
}

interface RecordedItems {
  readonly last: number;
  readonly beforeBatch: number;
  /** The run, if it has ended and the next one of its session is to begin. */
  readonly endedBeforeNext?: EndedRun | undefined;
}

/** Checks the lease first, even without events to append: a worker that lost it may store nothing. */
async function recordItems(
  services: Pick<Services, 'clock' | 'ids' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { holder, batch, entries, waitMs }: ItemsOfBatch,
): Promise<RecordedItems | undefined> {
  if (batch.end === undefined && batch.items.every(isDraft)) {
    const usage = addUsage(null, entries);
    const last = await appendEvents(services, tx, { holder, drafts: batch.items, usage });
    return last === undefined ? undefined : { last, beforeBatch: last - batch.items.length };
  }
  const locked = await lockRun(tx, holder);
  if (locked === undefined || !holds(holder, locked.run)) return undefined;
  const { session, run: before } = locked;
  const run = recordUsage(before, entries);
  const seen = { session, run };
  const raised = await raiseInteractions(services, tx, { run, items: batch.items, waitMs });
  const after =
    batch.end === undefined
      ? recordLiveWaiting(services, tx, { seen, raised })
      : await recordLegEnd(services, tx, { seen, raised, end: batch.end });
  return {
    last: after.run.lastSeq,
    beforeBatch: run.lastSeq,
    endedBeforeNext: isEnded(after.run) && isNextDue(after.session) ? after.run : undefined,
  };
}

function holds(holder: Holder, run: Run): run is LeasedRun {
  return run.leaseEpoch === holder.epoch && isLeased(run);
}

/** A live runtime keeps its process while it waits for a person: the lease stays, the status is `waiting`. */
function recordLiveWaiting(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  { seen, raised }: { seen: RunInSession<LeasedRun>; raised: Raised },
): RunInSession {
  const now = services.clock.now();
  const session = interactionsChanged(seen.session, raised.open, now);
  const move = { run: waitLive(seen.run, raised.open, now), session, events: raised.events };
  return { run: recordMove(services, tx, { seen, move }), session };
}
