import type { Holder } from '../../app/record.ts';
import { readOutputText } from '../../app/runs/output-text.ts';
import type { Services } from '../../app/services.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import type { Json } from '../../domain/json.ts';
import type { Run } from '../../domain/run/run.ts';
import type { UsageEntry } from '../../domain/usage/usage.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { BeginOutcome } from '../../ports/harness.ts';
import type { CheckpointMaker } from '../../ports/repositories/runs/sessions.ts';
import type { EndedCall } from '../../ports/repositories/runs/tool-calls.ts';
import { retryStorage } from '../../runtime/retry-storage.ts';
import {
  type Inspection,
  inspectCall,
  inspectCallRef,
  inspectItem,
  inspectState,
} from './inspect-output.ts';
import type { LegRules } from './decide-calls.ts';
import type { LegNote, NewIntent, PlacedNote } from './leg-notes.ts';
import { OutageLog } from './outage-log.ts';
import { PendingOutput } from './pending-output.ts';
import type { LegItem } from './raise-interactions.ts';
import {
  type AnnouncedContext,
  type LegBatch,
  type LegRecording,
  type RecordedBatch,
  makesRequests,
  recordLeg,
} from './record-leg.ts';
import type { LegOutcome } from './record-leg-end.ts';

const retryMs = 500;

/** Of the leg that starts a run. Only a leg and what follows it make requests, so it begins without any. */
const firstEpoch = 1;

type WriterServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'ids'
  | 'fanout'
  | 'log'
  | 'metrics'
  | 'traces'
  | 'isSingleServer'
  | 'prices'
  | 'slots'
  | 'settings'
  | 'agents'
  | 'knownRules'
  | 'auditedCalls'
>;

export interface LegWriterOptions {
  readonly holder: Holder;
  /** As it was claimed: with the end of its log, and the workers that it had lost. */
  readonly run: Pick<Run, 'lastSeq' | 'lossesTotal' | 'leaseEpoch'>;
  readonly waitMs: number;
  readonly rules: LegRules;
  readonly maker: CheckpointMaker;
  /** Called once when the lease turns out to be lost. */
  readonly onLost: () => void;
  /** Called once when the agent emitted something that cannot be recorded: its leg is to end, with this message. */
  readonly onRefused: (message: string) => void;
  /** Called when a batch failed for another reason than the storage: the leg is to end. */
  readonly onFailed: () => void;
  /** Called when a ceiling was reached (D-132). */
  readonly onBreach?: (reason: string) => void;
}

/**
 * Appends the events of a leg to the log in batches. Events emitted during a commit go into the next one, so a quick
 * leg costs few commits and a slow one is recorded event by event. A batch is formed when its transaction starts, not
 * when it is requested. While the storage is unavailable the leg waits and loses nothing. Any other error costs the
 * batch and the leg, never the process.
 */
export class LegWriter {
  readonly #services: WriterServices;
  readonly #options: LegWriterOptions;
  readonly #pending = new PendingOutput();
  readonly #outage: OutageLog;
  #draining: Promise<void> | undefined;
  #isLost = false;
  #isClosed = false;
  /** Set by a batch that could not be recorded. */
  #failure: { readonly error: unknown } | undefined;
  #lastSeq: number;
  #isUnasked: boolean;

  constructor(services: WriterServices, options: LegWriterOptions) {
    this.#services = services;
    this.#options = options;
    this.#outage = new OutageLog(services, options.holder.runId);
    this.#isUnasked = options.run.leaseEpoch === firstEpoch;
    this.#lastSeq = options.run.lastSeq;
  }

  /** Returns a promise when the leg has to wait until it resolves. */
  push(item: LegItem): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    const characters = this.#accept(inspectItem(item));
    if (characters === undefined) return undefined;
    this.#pending.push(item, characters);
    return this.#draw();
  }

  /** Returns a promise when the leg has to wait until it resolves. */
  checkpoint(state: Json, isRecoveryPoint: boolean): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    const characters = this.#accept(inspectState(state));
    if (characters === undefined) return undefined;
    this.#pending.note({ kind: 'checkpoint', state, isRecoveryPoint }, characters);
    return this.#draw();
  }

  /** Resolves once the report is durable and every ceiling was looked at. */
  async usage(entry: UsageEntry): Promise<void> {
    await this.#settled((settle) => ({ kind: 'usage', entry, settle }));
  }

  /**
   * Resolves once the intent is durable, with everything emitted before it and the folder's state, if it was archived
   * for the call; or once it is decided that the call must not start.
   */
  async beginCall(intent: NewIntent, snapshot?: FolderState): Promise<BeginOutcome> {
    if (this.#accept(inspectCall(intent)) === undefined || !this.#isOpen) return { kind: 'left' };
    return new Promise((settle) => this.#note({ kind: 'begin', intent, snapshot, settle }, 0));
  }

  /** Resolves once the result is durable, and the recovery point with it. False: the lease is lost. */
  async endCall(call: EndedCall, point?: Json): Promise<boolean> {
    if (this.#accept(inspectCallRef(call.ref)) === undefined) return false;
    const characters = point === undefined ? 0 : this.#accept(inspectState(point));
    if (characters === undefined) return false;
    return this.#settled((settle) => ({ kind: 'end', call, point, settle }), characters);
  }

  #settled(
    noteOf: (settle: (isDurable: boolean) => void) => LegNote,
    characters = 0,
  ): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false);
    return new Promise((resolve) => this.#note(noteOf(resolve), characters));
  }

  #note(note: LegNote, characters: number): void {
    this.#pending.note(note, characters);
    this.#draining ??= this.#drain();
  }

  #draw(): Promise<void> | undefined {
    this.#draining ??= this.#drain();
    return this.#pending.isFull ? this.#draining : undefined;
  }

  /** The size of what may be recorded. Undefined for anything else, with which the leg ends. */
  #accept(inspected: Inspection): number | undefined {
    if (inspected.ok) return inspected.characters;
    if (!this.#isOpen) return undefined;
    // Everything emitted before it is recorded, and nothing after it.
    this.#isClosed = true;
    this.#options.onRefused(refusal(inspected.problem));
    return undefined;
  }

  context(context: AnnouncedContext): void {
    this.#pending.context = context;
  }

  get rules(): LegRules {
    return this.#options.rules;
  }

  /** While it is true, no call of the run can have been denied. */
  get isUnasked(): boolean {
    return this.#isUnasked;
  }

  /** True when this worker no longer holds the lease: nothing more is recorded. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get #isOpen(): boolean {
    return !this.#isLost && !this.#isClosed && this.#pending.end === undefined;
  }

  /** Records the remaining items without an end of the leg. Takes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  /** Whether a batch failed: its items and all later ones are not recorded. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Records the remaining items together with the end of the leg. If they cannot be recorded, the leg ends without
   * them, as failed. Throws only when not even that is possible.
   */
  async finish(end: LegOutcome): Promise<void> {
    if (this.#failure === undefined) await this.#drainTo(this.#sound(end));
    if (this.#failure === undefined) return;
    const rest = { isUsagePartial: end.isUsagePartial === true, snapshot: end.snapshot };
    const outputText = await this.#recordedText();
    this.#failure = undefined;
    await this.#drainTo({ ...unrecorded, ...rest, outputText });
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The run's text without the batch that failed. */
  async #recordedText(): Promise<string | null> {
    const { store, clock } = this.#services;
    const run = { id: this.#options.holder.runId };
    const policy = { clock, shouldRetry: () => !this.#isLost };
    return (await retryStorage(policy, () => readOutputText(store, run))) || null;
  }

  async #drainTo(end: LegOutcome): Promise<void> {
    this.#pending.end = end;
    if (!this.#isLost) this.#draining ??= this.#drain();
    await this.#draining;
  }

  /** Never rejects: it is started by events that wait for nothing. */
  async #drain(): Promise<void> {
    try {
      while (!this.#isLost && !this.#pending.isEmpty) await this.#recordBatch();
    } catch (error) {
      this.#fail(error);
    } finally {
      if (this.#isLost) settleAll(this.#pending.dropNotes(), () => notDurable);
      this.#draining = undefined;
    }
  }

  /** Drops the items that were not recorded. The next batch can only be the end of the leg. */
  #fail(error: unknown): void {
    const { holder, onFailed } = this.#options;
    this.#services.log.error('events could not be stored', error, { run_id: holder.runId });
    this.#failure = { error };
    this.#isClosed = true;
    settleAll(this.#pending.drop(), () => notDurable);
    onFailed();
  }

  /** The last checkpoint comes with the end: one that cannot be recorded makes the leg fail. */
  #sound(end: LegOutcome): LegOutcome {
    const inspected = end.state === undefined ? undefined : inspectState(end.state);
    if (inspected?.ok !== false) return end;
    const message = refusal(inspected.problem);
    return { ...end, state: undefined, status: 'failed', code: 'agent_error', message };
  }

  async #recordBatch(): Promise<void> {
    const { holder, run, waitMs, rules, maker, onLost, onBreach } = this.#options;
    const { lossesTotal } = run;
    // A transaction may be retried, so its batch is kept until it is committed.
    let batch: LegBatch | undefined;
    const take = () => (batch ??= this.#pending.takeBatch());
    let inDoubtAfter: number | undefined;
    for (;;) {
      try {
        const isUnasked = this.#isUnasked;
        const recording = { take, waitMs, rules, inDoubtAfter, lossesTotal, maker, isUnasked };
        const recorded = await this.#record(holder, recording);
        this.#isUnasked &&= !hasRequests(batch, recorded);
        this.#isLost = recorded === undefined;
        this.#lastSeq = recorded?.lastSeq ?? this.#lastSeq;
        if (this.#isLost) onLost();
        else this.#outage.stored();
        if (recorded?.breach !== undefined) onBreach?.(recorded.breach);
        const lost = recorded === undefined ? notDurable : undefined;
        settleAll(batch?.notes ?? [], (note) => lost ?? recorded?.refused.get(note) ?? begun);
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) {
          settleAll(batch?.notes ?? [], () => notDurable);
          throw error;
        }
        this.#outage.failed(error);
        inDoubtAfter = this.#lastSeq;
        this.#isUnasked = false;
        await new Promise<void>((resolve) => this.#services.clock.after(retryMs, resolve));
      }
    }
  }

  async #record(holder: Holder, recording: LegRecording): Promise<RecordedBatch | undefined> {
    const { metrics } = this.#services;
    const began = metrics.seconds();
    const recorded = await recordLeg(this.#services, holder, recording);
    metrics.appendSeconds.observe(metrics.seconds() - began);
    return recorded;
  }
}

function hasRequests(batch: LegBatch | undefined, recorded: RecordedBatch | undefined): boolean {
  return (batch !== undefined && makesRequests(batch)) || (recorded?.refused.size ?? 0) > 0;
}

const unrecorded = {
  status: 'failed',
  code: 'internal_error',
  message: 'The server could not record what the agent emitted.',
} as const;

function refusal(problem: string): string {
  return `The output of the agent cannot be recorded: ${problem}.`;
}

const begun: BeginOutcome = { kind: 'begun' };
const notDurable: BeginOutcome = { kind: 'left' };

/** Tells the calls and reports that wait their outcome: a call that is not durable must not start. */
function settleAll(notes: readonly PlacedNote[], outcomeOf: (note: LegNote) => BeginOutcome): void {
  for (const { note } of notes) {
    const outcome = outcomeOf(note);
    if (note.kind === 'begin') note.settle(outcome);
    else if ('settle' in note) note.settle?.(outcome.kind === 'begun');
  }
}
