import type { Holder } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import type { Json } from '../../domain/json.ts';
import type { CallIntent } from '../../domain/run/tool-call.ts';
import type { UsageEntry } from '../../domain/usage/usage.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { CheckpointMaker } from '../../ports/repositories/sessions.ts';
import type { EndedCall } from '../../ports/repositories/tool-calls.ts';
import { type LegNote, type PlacedNote } from './leg-notes.ts';
import type { LegItem } from './raise-interactions.ts';
import {
  type AnnouncedContext,
  type LegBatch,
  type LegRecording,
  type Recorded,
  recordLeg,
} from './record-leg.ts';
import type { LegOutcome } from './record-leg-end.ts';

/** With this many unrecorded items the leg has to wait. */
const pendingMax = 1024;
const batchMax = 512;
const retryMs = 500;

type WriterServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'ids'
  | 'fanout'
  | 'log'
  | 'metrics'
  | 'traces'
  | 'prices'
  | 'slots'
  | 'settings'
>;

export interface LegWriterOptions {
  readonly holder: Holder;
  /** Last sequence number of the log when the leg was claimed. */
  readonly lastSeq: number;
  readonly waitMs: number;
  /** Workers that the run had lost when the leg was claimed. */
  readonly lossesTotal: number;
  readonly maker: CheckpointMaker;
  /** Called once when the lease turns out to be lost. */
  readonly onLost: () => void;
  /** Called when a ceiling was reached (D-132). */
  readonly onBreach?: (reason: string) => void;
}

/**
 * Appends the events of a leg to the log in batches. Events emitted during a commit go into the next one, so a quick
 * leg costs few commits and a slow one is recorded event by event. A batch is formed when its transaction starts, not
 * when it is requested. While the storage is unavailable the leg waits and loses nothing.
 */
export class LegWriter {
  readonly #services: WriterServices;
  readonly #options: LegWriterOptions;
  #items: LegItem[] = [];
  /** Checkpoints and ledger entries, each behind the items before it. */
  #notes: PlacedNote[] = [];
  /** Number of items taken into batches so far. */
  #taken = 0;
  #context: AnnouncedContext | undefined;
  #end: LegOutcome | undefined;
  #draining: Promise<void> | undefined;
  #isLost = false;
  #isClosed = false;
  #lastSeq: number;

  constructor(services: WriterServices, options: LegWriterOptions) {
    this.#services = services;
    this.#options = options;
    this.#lastSeq = options.lastSeq;
  }

  /** Returns a promise when the leg has to wait until it resolves. */
  push(item: LegItem): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    this.#items.push(item);
    this.#draining ??= this.#drain();
    return this.#items.length >= pendingMax ? this.#draining : undefined;
  }

  checkpoint(state: Json, isRecoveryPoint: boolean): void {
    this.#note({ kind: 'checkpoint', state, isRecoveryPoint });
  }

  /** Resolves once the report is durable and every ceiling was looked at. */
  async usage(entry: UsageEntry): Promise<void> {
    await this.#settled((settle) => this.#note({ kind: 'usage', entry, settle }));
  }

  /**
   * Resolves once the intent is durable, with everything emitted before it and the folder's state, if it was archived for
   * the call. False: the call must not start.
   */
  beginCall(intent: CallIntent, snapshot?: FolderState): Promise<boolean> {
    return this.#settled((settle) => this.#note({ kind: 'begin', intent, snapshot, settle }));
  }

  /** Resolves once the result is durable. False: the lease is lost. */
  endCall(call: EndedCall): Promise<boolean> {
    return this.#settled((settle) => this.#note({ kind: 'end', call, settle }));
  }

  #settled(note: (settle: (isDurable: boolean) => void) => void): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false);
    return new Promise((resolve) => note(resolve));
  }

  #note(note: LegNote): void {
    if (this.#isClosed) return;
    this.#notes.push({ note, after: this.#taken + this.#items.length });
    if (!this.#isLost) this.#draining ??= this.#drain();
  }

  context(context: AnnouncedContext): void {
    this.#context = context;
  }

  /** True when this worker no longer holds the lease: nothing more is recorded. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get #isOpen(): boolean {
    return !this.#isLost && !this.#isClosed && this.#end === undefined;
  }

  /** Records the remaining items without an end of the leg. Takes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  /** Records the remaining items together with the end of the leg. */
  async finish(end: LegOutcome): Promise<void> {
    this.#end = end;
    if (!this.#isLost) this.#draining ??= this.#drain();
    await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (!this.#isLost && this.#hasWork()) await this.#recordBatch();
      if (this.#isLost) this.#dropNotes();
    } finally {
      this.#draining = undefined;
    }
  }

  #hasWork(): boolean {
    return (
      this.#items.length > 0 ||
      this.#notes.length > 0 ||
      this.#context !== undefined ||
      this.#end !== undefined
    );
  }

  async #recordBatch(): Promise<void> {
    const { holder, waitMs, lossesTotal, maker, onLost, onBreach } = this.#options;
    // A transaction may be retried, so its batch is kept until it is committed.
    let batch: LegBatch | undefined;
    const take = () => (batch ??= this.#takeBatch());
    let inDoubtAfter: number | undefined;
    for (;;) {
      try {
        const recording = { take, waitMs, inDoubtAfter, lossesTotal, maker };
        const recorded = await this.#record(holder, recording);
        this.#isLost = recorded === undefined;
        this.#lastSeq = recorded?.lastSeq ?? this.#lastSeq;
        if (this.#isLost) onLost();
        if (recorded?.breach !== undefined) onBreach?.(recorded.breach);
        for (const { note } of batch?.notes ?? []) {
          if ('settle' in note) note.settle(recorded?.refused.has(note) === false);
        }
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error;
        this.#services.log.error('events not stored; retrying', error, { run_id: holder.runId });
        inDoubtAfter = this.#lastSeq;
        await new Promise<void>((resolve) => this.#services.clock.after(retryMs, resolve));
      }
    }
  }

  async #record(holder: Holder, recording: LegRecording): Promise<Recorded | undefined> {
    const { metrics, traces } = this.#services;
    const began = metrics.seconds();
    const recorded = await traces.within({ name: 'append events', parent: 'current' }, () =>
      recordLeg(this.#services, holder, recording),
    );
    metrics.appendSeconds.observe(metrics.seconds() - began);
    return recorded;
  }

  /** Nothing more is recorded: calls that wait for their turn must not start. */
  #dropNotes(): void {
    for (const { note } of this.#notes.splice(0)) {
      if ('settle' in note) note.settle(false);
    }
  }

  #takeBatch(): LegBatch {
    const items = this.#items.splice(0, batchMax);
    const before = this.#taken;
    this.#taken += items.length;
    const isLast = this.#items.length === 0;
    // A checkpoint covers every event before it, so it is stored with the last of them.
    const covered = this.#notes.filter(({ after }) => after <= this.#taken);
    this.#notes.splice(0, covered.length);
    const batch: LegBatch = {
      items,
      notes: covered.map(({ note, after }) => ({ note, after: Math.max(after - before, 0) })),
      context: this.#context,
      end: isLast ? this.#end : undefined,
    };
    if (isLast) this.#end = undefined;
    this.#context = undefined;
    return batch;
  }
}
