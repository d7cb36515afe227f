import type { Holder } from '../app/record.ts';
import type { Services } from '../app/services.ts';
import type { Json } from '../domain/json.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { LegItem } from './raise-interactions.ts';
import {
  type AnnouncedContext,
  type LegBatch,
  type LegOutcome,
  type LegRecording,
  recordLeg,
} from './record-leg.ts';

/** With this many unrecorded items the leg has to wait. */
const pendingMax = 1024;
const batchMax = 512;
const retryMs = 500;

type WriterServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'fanout' | 'log' | 'metrics' | 'traces'
>;

export interface LegWriterOptions {
  readonly holder: Holder;
  /** Last sequence number of the log when the leg was claimed. */
  readonly lastSeq: number;
  readonly waitMs: number;
  /** Called once when the lease turns out to be lost. */
  readonly onLost: () => void;
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
  #checkpoint: string | undefined;
  #context: AnnouncedContext | undefined;
  #end: LegOutcome | undefined;
  #draining: Promise<void> | undefined;
  #isLost = false;
  #lastSeq: number;

  constructor(services: WriterServices, options: LegWriterOptions) {
    this.#services = services;
    this.#options = options;
    this.#lastSeq = options.lastSeq;
  }

  /** Returns a promise when the leg has to wait until it resolves. */
  push(item: LegItem): Promise<void> | undefined {
    if (this.#isLost || this.#end !== undefined) return undefined;
    this.#items.push(item);
    this.#draining ??= this.#drain();
    return this.#items.length >= pendingMax ? this.#draining : undefined;
  }

  checkpoint(state: Json): void {
    this.#checkpoint = JSON.stringify(state);
    if (!this.#isLost) this.#draining ??= this.#drain();
  }

  context(context: AnnouncedContext): void {
    this.#context = context;
  }

  /** True when this worker no longer holds the lease: nothing more is recorded. */
  get isLost(): boolean {
    return this.#isLost;
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
    } finally {
      this.#draining = undefined;
    }
  }

  #hasWork(): boolean {
    return (
      this.#items.length > 0 ||
      this.#checkpoint !== undefined ||
      this.#context !== undefined ||
      this.#end !== undefined
    );
  }

  async #recordBatch(): Promise<void> {
    const { holder, waitMs, onLost } = this.#options;
    // A transaction may be retried, so its batch is kept until it is committed.
    let batch: LegBatch | undefined;
    const take = () => (batch ??= this.#takeBatch());
    let inDoubtAfter: number | undefined;
    for (;;) {
      try {
        const recording = { take, waitMs, inDoubtAfter };
        const lastSeq = await this.#record(holder, recording);
        this.#isLost = lastSeq === undefined;
        this.#lastSeq = lastSeq ?? this.#lastSeq;
        if (this.#isLost) onLost();
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error;
        this.#services.log.error('events not stored; retrying', error, { run_id: holder.runId });
        inDoubtAfter = this.#lastSeq;
        await new Promise<void>((resolve) => this.#services.clock.after(retryMs, resolve));
      }
    }
  }

  async #record(holder: Holder, recording: LegRecording): Promise<number | undefined> {
    const { metrics, traces } = this.#services;
    const began = metrics.seconds();
    const lastSeq = await traces.within({ name: 'append events', parent: 'current' }, () =>
      recordLeg(this.#services, holder, recording),
    );
    metrics.appendSeconds.observe(metrics.seconds() - began);
    return lastSeq;
  }

  #takeBatch(): LegBatch {
    const items = this.#items.splice(0, batchMax);
    const isLast = this.#items.length === 0;
    const batch: LegBatch = {
      items,
      // A checkpoint covers every event before it, so it is stored with the last of them.
      checkpoint: isLast ? this.#checkpoint : undefined,
      context: this.#context,
      end: isLast ? this.#end : undefined,
    };
    if (isLast) {
      this.#checkpoint = undefined;
      this.#end = undefined;
    }
    this.#context = undefined;
    return batch;
  }
}
