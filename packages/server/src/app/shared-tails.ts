import type { Topic } from '../ports/fanout.ts';
import type { Services } from './services.ts';

/**
 * A reader is a cursor over a log. It reads pages until it has caught up, then shares one tail per log with all readers
 * of this process: a wake-up costs one read and one rendering for all of them. A reader that falls behind reads pages
 * again.
 */
export interface LogReader<Key extends string, Batch extends LogBatch> {
  /** Names the log: a run or a tenant. */
  readonly key: Key;
  readonly read: ReadBatch<Batch>;
  /** Reading starts strictly after this sequence number. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Reads the next batch after a sequence number; undefined at the end of the log. */
export type ReadBatch<Batch extends LogBatch> = (after: number) => Promise<Batch | undefined>;

/** The entries of one commit or one page, rendered once and shared between readers. */
export interface LogBatch {
  readonly after: number;
  readonly lastSeq: number;
  /** True when nothing comes after it. */
  readonly ended: boolean;
  /** True when the log had more entries at the time of the read. */
  readonly isCut: boolean;
}

/** Longest delay that a lost wake-up can cause. */
const pollMs = 1000;
const logsPerPoll = 500;

type TailServices = Pick<Services, 'fanout' | 'clock' | 'log' | 'metrics'>;

export interface LogKind<Key extends string> {
  readonly topicOf: (key: Key) => Topic;
  readonly lastSeqs: (
    keys: readonly Key[],
  ) => Promise<readonly { readonly id: Key; readonly lastSeq: number }[]>;
}

export class SharedTails<Key extends string, Batch extends LogBatch> {
  readonly #services: TailServices;
  readonly #kind: LogKind<Key>;
  readonly #tails = new Map<Key, Tail<Batch>>();

  constructor(services: TailServices, kind: LogKind<Key>) {
    this.#services = services;
    this.#kind = kind;
    if (!services.fanout.lossless) this.#poll();
  }

  async *follow({ key, read, after, signal }: LogReader<Key, Batch>): AsyncGenerator<Batch> {
    // Subscribe before the first read, so that no write between the two is missed.
    const tail = this.#join(key, read);
    try {
      let cursor = after;
      while (!signal.aborted) {
        const { wakes } = tail;
        const batch = tail.isReadTo(cursor)
          ? undefined
          : (tail.batchAfter(cursor) ?? (await read(cursor)));
        if (batch === undefined) {
          if (!(await tail.waitBeyond(cursor, wakes, signal))) return;
          continue;
        }
        yield batch;
        if (batch.ended) return;
        cursor = batch.lastSeq;
      }
    } finally {
      this.#leave(key, tail);
    }
  }

  /** Polls where wake-ups can be lost: one query for many tails. */
  #poll(): void {
    this.#services.clock.after(pollMs, () => {
      this.#pollTails()
        .catch((error: unknown) => this.#services.log.error('polling of logs failed', error))
        .finally(() => this.#poll());
    });
  }

  async #pollTails(): Promise<void> {
    const keys = Array.from(this.#tails.keys());
    for (let from = 0; from < keys.length; from += logsPerPoll) {
      const asked = keys.slice(from, from + logsPerPoll);
      for (const { id, lastSeq } of await this.#kind.lastSeqs(asked)) {
        this.#tails.get(id)?.learn(lastSeq);
      }
    }
  }

  #join(key: Key, read: ReadBatch<Batch>): Tail<Batch> {
    const tail = this.#tails.get(key) ?? new Tail(this.#services, this.#kind.topicOf(key), read);
    this.#tails.set(key, tail);
    tail.readers += 1;
    return tail;
  }

  #leave(key: Key, tail: Tail<Batch>): void {
    tail.readers -= 1;
    if (tail.readers > 0) return;
    tail.close();
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}

/** The newest batch of one log, for readers that have seen everything before. */
class Tail<Batch extends LogBatch> {
  readers = 0;
  wakes = 0;
  readonly #services: TailServices;
  readonly #read: ReadBatch<Batch>;
  readonly #unsubscribe: () => void;
  #latest: Batch | undefined;
  #seq = 0;
  /** `wakes` before the read that found the end of the log at `#seq`. */
  #endedAtWake: number | undefined;
  #waiting = new Set<(isOpen: boolean) => void>();
  #refreshing = false;
  #wokenAgain = false;

  constructor(services: TailServices, topic: Topic, read: ReadBatch<Batch>) {
    this.#services = services;
    this.#read = read;
    this.#unsubscribe = services.fanout.subscribe(topic, () => this.#wake());
  }

  /** Called with the last sequence number that the poll found. */
  learn(lastSeq: number): void {
    if (lastSeq <= this.#seq) return;
    if (this.#waiting.size > 0 && !this.#refreshing) this.#services.metrics.wakeupsMissed.add(1);
    this.#wake();
  }

  batchAfter(cursor: number): Batch | undefined {
    return this.#latest?.after === cursor ? this.#latest : undefined;
  }

  /** True when the log is known to end at `cursor`, so that a reader there can skip the query. */
  isReadTo(cursor: number): boolean {
    return cursor === this.#seq && this.#endedAtWake === this.wakes;
  }

  /**
   * Resolves to true when there may be events after `cursor`, to false when the reader should end. `wakes` is the
   * count before the reader's own query: if it changed, the reader queries again.
   */
  async waitBeyond(cursor: number, wakes: number, signal: AbortSignal): Promise<boolean> {
    if (cursor < this.#seq || wakes !== this.wakes) return true;
    if (cursor > this.#seq) {
      // The reader that is furthest ahead sets the tail's position; others query for themselves.
      this.#seq = cursor;
      this.#release(true);
    }
    this.#endedAtWake = wakes;
    return new Promise((resolve) => {
      const settle = (isOpen: boolean) => {
        this.#waiting.delete(settle);
        signal.removeEventListener('abort', leave);
        resolve(isOpen);
      };
      const leave = () => settle(false);
      this.#waiting.add(settle);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#release(false);
  }

  #release(isOpen: boolean): void {
    // Each removes itself from the set. A reader that waits again waits for the next release.
    const waiting = Array.from(this.#waiting);
    for (const settle of waiting) settle(isOpen);
  }

  #wake(): void {
    this.wakes += 1;
    if (this.#refreshing) this.#wokenAgain = true;
    else void this.#refresh();
  }

  /** Runs one read at a time; a wake-up during a read causes one more. */
  async #refresh(): Promise<void> {
    this.#refreshing = true;
    try {
      do {
        this.#wokenAgain = false;
        if (this.#waiting.size === 0) continue;
        const { wakes } = this;
        const batch = await this.#read(this.#seq);
        if (batch === undefined) continue;
        this.#latest = batch;
        this.#seq = batch.lastSeq;
        this.#endedAtWake = batch.isCut ? undefined : wakes;
        this.#release(true);
      } while (this.#wokenAgain);
    } catch (error) {
      // Readers close and clients reconnect with their cursor: a storage fault is not the end of the log.
      this.#services.log.error('reading the tail of a log failed', error);
      this.#release(false);
    } finally {
      this.#refreshing = false;
    }
  }
}
