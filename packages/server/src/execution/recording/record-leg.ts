import { type Holder, appendEvents, lockRun } from '../../app/record.ts';
import { type DecidedCall, recordDecidedCalls } from '../../app/rules/decided-calls.ts';
import { beginNext } from '../../app/runs/begin-run.ts';
import { InlineSlot } from '../../app/runs/inline-slot.ts';
import type { Services } from '../../app/services.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import { modelName, telemetryProvider } from '../../domain/usage/model-name.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import { recordUsage } from '../../domain/run/run-progress.ts';
import {
  type EndedRun,
  type LeasedRun,
  type Run,
  isEnded,
  isLeased,
} from '../../domain/run/run.ts';
import { isNextDue } from '../../domain/session.ts';
import { type UsageEntry, addUsage } from '../../domain/usage/usage.ts';
import type { CheckpointMaker } from '../../ports/repositories/runs/sessions.ts';
import type { NotBegun } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordSnapshot } from '../folders/record-snapshot.ts';
import { chargeUsage } from '../usage/charge-usage.ts';
import {
  beginsOf,
  committedCalls,
  decideBatch,
  recordDecisions,
  storedDenials,
} from './decide-batch.ts';
import { type Deciding, type LegRules, OutdatedRules, requireVersion } from './decide-calls.ts';
import { type LegNote, type PlacedNote, recordNotes } from './leg-notes.ts';
import { RefusedCall, type Refusals, raiseCall } from './raise-calls.ts';
import { type LegItem, isCall, isDraft, raiseInteractions } from './raise-interactions.ts';
import { type LegOutcome, recordLegEnd } from './record-leg-end.ts';
import { recordRaised } from './record-raised.ts';

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
  /** True while the run has had no request: then no call of it was denied. */
  readonly isUnasked?: boolean;
  readonly rules: LegRules;
  /** Workers that the run had lost when the leg was claimed. */
  readonly lossesTotal: number;
  /** The framework and version that make the checkpoints of the leg. */
  readonly maker: CheckpointMaker;
}

export interface RecordedBatch {
  /** The last sequence number of the log. */
  readonly lastSeq: number;
  /** Calls that do not begin. */
  readonly refused: ReadonlyMap<LegNote, NotBegun>;
  /** The ceiling that the batch reached: the run is to end. */
  readonly breach?: string | undefined;
}

const noneRefused: ReadonlyMap<LegNote, NotBegun> = new Map();

type RecordingServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'ids'
  | 'fanout'
  | 'metrics'
  | 'traces'
  | 'prices'
  | 'slots'
  | 'isSingleServer'
  | 'settings'
  | 'agents'
  | 'knownRules'
  | 'auditedCalls'
>;

/** Far more changes of the rules than happen while a batch is written. */
const attemptsMax = 20;

/**
 * Records a batch. Undefined when the lease is lost: then nothing was written, and nothing more can be. A batch that
 * was decided by rules which have changed since is rolled back, and decided again (D-506); so is one that calls an
 * agent whose run is refused, and the refusal is then the answer to that call (D-921).
 */
export async function recordLeg(
  services: RecordingServices,
  holder: Holder,
  recording: LegRecording,
): Promise<RecordedBatch | undefined> {
  const { knownRules, store } = services;
  const { organizationId } = holder.scope;
  const refusals = new Map<string, string>();
  for (let attempt = 1; ; ) {
    try {
      return await recordOnce(services, holder, { recording, refusals });
    } catch (error) {
      // What it had written of the called run was rolled back. Each call is refused once.
      if (error instanceof RefusedCall && !refusals.has(error.ref)) {
        refusals.set(error.ref, error.message);
        continue;
      }
      if (!(error instanceof OutdatedRules) || attempt === attemptsMax) throw error;
      attempt += 1;
      await knownRules.read(store.read, organizationId);
    }
  }
}

function recordOnce(
  services: RecordingServices,
  holder: Holder,
  { recording, refusals }: { readonly recording: LegRecording; readonly refusals: Refusals },
): Promise<RecordedBatch | undefined> {
  const slot: NextSlot = {};
  const recorded = services.store.transaction(async (tx) => {
    slot.inline?.reset();
    const batch = recording.take();
    const organization = services.knownRules.get(holder.scope.organizationId);
    const deciding = { holder, rules: recording.rules, organization };
    const committed = await findCommitted(services, tx, { recording, batch, deciding });
    if (committed !== undefined) return committed.recorded;
    if (hasOnlyEvents(batch)) {
      // Fast path for plain events: two statements.
      const lastSeq = await appendEvents(services, tx, { holder, drafts: batch.items });
      return lastSeq === undefined ? undefined : { lastSeq, refused: noneRefused };
    }
    return recordBatch(services, tx, { recording, refusals, batch, deciding, slot });
  });
  return recorded.catch((error: unknown) => {
    slot.inline?.giveUp(error);
    throw error;
  });
}

/** The slot of the next run, which the end of a leg may begin. */
interface NextSlot {
  inline?: InlineSlot;
}

interface BatchToRecord {
  readonly recording: LegRecording;
  readonly refusals: Refusals;
  readonly batch: LegBatch;
  readonly deciding: Deciding;
}

/** Whether a batch whose answer was lost needs nothing more: it was committed, or recovery took the run away. */
async function findCommitted(
  services: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  { recording: { inDoubtAfter, lossesTotal }, batch, deciding }: Omit<BatchToRecord, 'refusals'>,
): Promise<{ readonly recorded: RecordedBatch | undefined } | undefined> {
  if (inDoubtAfter === undefined) return undefined;
  const { holder } = deciding;
  // Behind the lock, so that a commit still under way is seen too.
  const seen = await lockRun(tx, holder);
  // Recovery took the run away: events after the batch may be those of another worker.
  if (seen?.run.lossesTotal !== lossesTotal) return { recorded: undefined };
  const isKnown = await isCommitted(tx, seen.run, inDoubtAfter);
  if (!isKnown && (batch.end === undefined || !hasParked(holder, seen.run))) return undefined;
  // The wake-up was lost with the answer.
  tx.onCommit(() => services.fanout.wake(`run:${holder.runId}`));
  const refused = await committedCalls(tx, { ...deciding, notes: batch.notes });
  return { recorded: { lastSeq: seen.run.lastSeq, refused } };
}

async function recordBatch(
  services: RecordingServices,
  tx: StoreTransaction,
  {
    recording,
    refusals,
    batch: taken,
    deciding,
    slot,
  }: BatchToRecord & { readonly slot: NextSlot },
): Promise<RecordedBatch | undefined> {
  const { waitMs, inDoubtAfter, lossesTotal, maker, isUnasked = false } = recording;
  const { holder } = deciding;
  const decided = await decideBatch(services, tx, { ...deciding, batch: taken });
  const batch = { ...taken, items: decided.items, notes: decided.notes };
  const isRepeated = inDoubtAfter !== undefined;
  const entries = await newEntries(tx, holder, { notes: batch.notes, isRepeated });
  const undecided = beginsOf(taken).filter((note) => !decided.refused.has(note));
  // In one message with the append.
  const [seqs, denied] = await Promise.all([
    recordItems(services, tx, { batch, entries, waitMs, deciding, refusals }),
    isUnasked && !makesRequests(taken)
      ? noneRefused
      : storedDenials(tx, { holder, begins: undecided }),
    hasCalls(taken) ? requireVersion(tx, holder, deciding.organization) : undefined,
  ]);
  if (seqs === undefined) return undefined;
  await recordDecisions(tx, decided);
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
          refused: new Map([...decided.refused, ...denied]),
        });
  await recordFolders(services, tx, { holder, notes: batch.notes, refused });
  await recordStates(services, tx, { holder, batch, maker });
  if (seqs.endedBeforeNext !== undefined) {
    slot.inline ??= new InlineSlot(services);
    await beginNext(services, tx, { after: seqs.endedBeforeNext, slot: slot.inline });
  }
  // Behind every other lock.
  const calls = [...decided.decided, ...seqs.decided];
  await recordDecidedCalls(services, tx, { run: holder, calls });
  return { lastSeq: seqs.last, refused, breach };
}

/** Whether it may store requests; others of them are stored for calls that it refuses. */
export function makesRequests({ items }: Pick<LegBatch, 'items'>): boolean {
  return !items.every(isDraft);
}

/** Whether rules have a say in it: it begins a call, or asks a person about one. */
function hasCalls(batch: LegBatch): boolean {
  const isAsking = batch.items.some((item) => item.type === 'permission_request' && !isDraft(item));
  return isAsking || beginsOf(batch).length > 0 || batch.items.some(isCall);
}

/** Context, checkpoint and folder of the session. */
async function recordStates(
  services: Pick<Services, 'clock'>,
  tx: StoreTransaction,
  { holder, batch, maker }: Pick<LegRecording, 'maker'> & { holder: Holder; batch: LegBatch },
): Promise<void> {
  if (batch.context !== undefined) {
    const { text, snapshot } = batch.context;
    tx.sessions.saveContext(holder.sessionId, text, snapshot);
  }
  const { state, snapshot } = batch.end ?? {};
  if (state !== undefined) {
    tx.sessions.saveCheckpoint(holder.sessionId, { text: JSON.stringify(state), ...maker });
  }
  if (snapshot !== undefined) await recordSnapshot(services, tx, { owner: holder, snapshot });
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
  {
    holder,
    notes,
    refused,
  }: Pick<RecordedBatch, 'refused'> & { holder: Holder; notes: readonly PlacedNote[] },
): Promise<void> {
  for (const { note } of notes) {
    if (note.kind !== 'begin' || note.snapshot === undefined || refused.has(note)) continue;
    await recordSnapshot(services, tx, { owner: holder, snapshot: note.snapshot });
    await tx.toolCalls.markSaved({ runId: holder.runId, tenantId: holder.scope.tenantId });
  }
}

function countEntries(
  { metrics }: Pick<Services, 'metrics'>,
  entries: readonly UsageEntry[],
): void {
  for (const { model, inputTokens, outputTokens, cachedInputTokens, cost } of entries) {
    metrics.tokenUsage.observe(inputTokens, 'input', telemetryProvider(model), modelName(model));
    metrics.tokenUsage.observe(outputTokens, 'output', telemetryProvider(model), modelName(model));
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

/** Beside the lease holder only answers, and what else the run waits for, append to the log. */
async function isCommitted(tx: StoreTransaction, run: Run, after: number): Promise<boolean> {
  const bounds = { limit: 1000, maxBytes: 1024 * 1024 };
  const { events } = await tx.runEvents.after(run.id, after, bounds);
  return events.some(({ type }) => !ofOthers.has(type));
}

const ofOthers: ReadonlySet<string> = new Set([
  'permission_resolved',
  'permission_approved',
  'user_answered',
  'wait_ended',
]);

/**
 * Whether the leg's end was committed without an event: the run is parked. Only the end of this leg releases its lease
 * while the run continues, and only a parked run is claimed again, under a higher epoch.
 */
function hasParked({ epoch }: Holder, run: Run): boolean {
  return run.leaseEpoch > epoch || (run.leaseEpoch === epoch && !isEnded(run) && !isLeased(run));
}

interface ItemsOfBatch {
  readonly deciding: Deciding;
  readonly batch: LegBatch;
  readonly entries: readonly UsageEntry[];
  readonly waitMs: number;
  readonly refusals: Refusals;
}

interface RecordedItems {
  readonly last: number;
  readonly beforeBatch: number;
  /** Requests that rules answered or made. */
  readonly decided: readonly DecidedCall[];
  /** The run, if it has ended and the next one of its session is to begin. */
  readonly endedBeforeNext?: EndedRun | undefined;
}

/** Checks the lease first, even without events to append: a worker that lost it may store nothing. */
async function recordItems(
  services: RecordingServices,
  tx: StoreTransaction,
  { deciding, batch, entries, waitMs, refusals }: ItemsOfBatch,
): Promise<RecordedItems | undefined> {
  const { holder } = deciding;
  if (batch.end === undefined && batch.items.every(isDraft)) {
    const usage = addUsage(null, entries);
    const last = await appendEvents(services, tx, { holder, drafts: batch.items, usage });
    const beforeBatch = (last ?? 0) - batch.items.length;
    return last === undefined ? undefined : { last, beforeBatch, decided: [] };
  }
  const locked = await lockRun(tx, holder);
  if (locked === undefined || !holds(holder, locked.run)) return undefined;
  const { session, run: before } = locked;
  const run = recordUsage(before, entries);
  const seen = { session, run };
  const raised = await raiseInteractions(services, tx, {
    run,
    items: batch.items,
    waitMs,
    deciding,
    call: (item) => raiseCall(services, tx, { item, seen, waitMs, deciding, refusals }),
  });
  const after =
    batch.end === undefined
      ? recordRaised(services, tx, { seen, raised })
      : await recordLegEnd(services, tx, { seen, raised, end: batch.end });
  return {
    last: after.run.lastSeq,
    beforeBatch: run.lastSeq,
    decided: raised.decided,
    endedBeforeNext: isEnded(after.run) && isNextDue(after.session) ? after.run : undefined,
  };
}

function holds(holder: Holder, run: Run): run is LeasedRun {
  return run.leaseEpoch === holder.epoch && isLeased(run);
}
