import type { Topic } from '../ports/fanout.ts';
import { inBackground } from '../runtime/in-background.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import type { Services } from './services.ts';

/**
 * A reader is a cursor over a log. Readers that have caught up share one tail per log: a wake-up costs one read and one
 * rendering for all of them. A reader is in one of three states:
 *
 * - behind: there may be entries after its place. It takes the tail's latest batch if that begins there, else it reads
 *   a page of its own, and stays behind until a read finds the end of the log.
 * - caught up: its own read found the end of the log. It asks the tail to attach it. That fails if the tail has read
 *   further or was woken since before that read, because then an entry may lie between: the reader is behind again.
 * - attached: it waits at the place of the tail. The tail's reads are its own, and it is given each batch without a
 *   promise or a query. It becomes behind again when it is busy with a batch, when another reader moves the tail
 *   on, or when it is not where a batch begins. It leaves at the end of the log, with its signal, or when a read fails.
 *
 * The tail itself only knows its place, the count of its wake-ups, and the count before the last read that found the
 * end of the log there. While the two counts are equal, a reader at that place has caught up without a query.
 */
export interface LogReader<Key extends string, Batch extends LogBatch> {
  /** Names the log: a run or a tenant. */
  readonly key: Key;
  readonly read: ReadBatch<Batch>;
  /** Reading starts strictly after this sequence number. */
  readonly after: number;
  readonly take: TakeBatch<Batch>;
  readonly signal: AbortSignal;
}

/**
 * Takes the next batch. A reader that is busy with it returns a promise, and gets no other batch before it resolves:
 * to false when the reader wants no more.
 */
export type TakeBatch<Batch extends LogBatch> = (batch: Batch) => Promise<boolean> | undefined;

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

  /** Gives a reader every batch in order. Resolves at the end of the log, or when the reader leaves. */
  async follow({ key, read, after, take, signal }: LogReader<Key, Batch>): Promise<void> {
    // Subscribe before the first read, so that no write between the two is missed.
    const tail = this.#join(key, read);
    try {
      const reader = new Cursor(after, take);
      while (!signal.aborted) {
        const { wakes } = tail;
        const { at } = reader;
        const shared = tail.batchAfter(at);
        const own = shared === undefined && !tail.isReadTo(at) ? await read(at) : undefined;
        const batch = shared ?? own;
        const busy = batch && reader.give(batch);
        if (busy !== undefined && !(await busy)) return;
        // Reads of SQLite and a reader that takes everything at once leave others no time.
        if (batch?.isCut === true) await nextTurn();
        // Attach only after a read of its own that started after `wakes` was sampled.
        if (batch !== own || batch?.isCut === true) continue;
        const going = tail.attach(reader, { wakes, signal });
        if (going !== undefined && !(await going)) return;
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
    const tail = this.#tails.get(key) ?? this.#open(key, read);
    tail.readers += 1;
    return tail;
  }

  #open(key: Key, read: ReadBatch<Batch>): Tail<Batch> {
    const tail = new Tail(this.#services, this.#kind.topicOf(key), read);
    this.#tails.set(key, tail);
    return tail;
  }

  #leave(key: Key, tail: Tail<Batch>): void {
    tail.readers -= 1;
    if (tail.readers > 0) return;
    tail.close();
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}

/** The place of a reader in its log. */
class Cursor<Batch extends LogBatch> {
  at: number;
  readonly #take: TakeBatch<Batch>;

  constructor(at: number, take: TakeBatch<Batch>) {
    this.at = at;
    this.#take = take;
  }

  /** Returns nothing when the reader can take the next batch, or a promise of whether it will. */
  give(batch: Batch): Promise<boolean> | undefined {
    this.at = batch.lastSeq;
    const busy = this.#take(batch);
    if (!batch.ended) return busy;
    return busy?.then(() => false) ?? Promise.resolve(false);
  }
}

/** A reader that has caught up. */
interface AttachedReader<Batch extends LogBatch> {
  readonly reader: Cursor<Batch>;
  /** Has the reader continue on its own, if that resolves to true. */
  readonly detach: (going: boolean | Promise<boolean>) => void;
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
  readonly #attached = new Set<AttachedReader<Batch>>();
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
    if (this.#attached.size > 0 && !this.#refreshing) this.#services.metrics.wakeupsMissed.add(1);
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
   * Gives the reader each new batch as it is read, without a promise or a listener for each. Returns nothing when there
   * may be events behind its place, else a promise of whether it continues on its own. `wakes` is the count before the
   * reader's own query: if it changed, the reader queries again.
   */
  attach(
    reader: Cursor<Batch>,
    { wakes, signal }: { readonly wakes: number; readonly signal: AbortSignal },
  ): Promise<boolean> | undefined {
    if (reader.at < this.#seq || wakes !== this.wakes) return undefined;
    if (reader.at > this.#seq) {
      // The reader that is furthest ahead sets the tail's position; others query for themselves.
      this.#seq = reader.at;
      this.#release(true);
    }
    this.#endedAtWake = wakes;
    return new Promise((resolve) => {
      const leave = () => attached.detach(false);
      const attached: AttachedReader<Batch> = {
        reader,
        detach: (going) => {
          this.#attached.delete(attached);
          signal.removeEventListener('abort', leave);
          resolve(going);
        },
      };
      this.#attached.add(attached);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#release(false);
  }

  #release(isOpen: boolean): void {
    for (const { detach } of this.#attached) detach(isOpen);
  }

  #deliver(batch: Batch): void {
    // Safe to iterate: detached readers resume in a later microtask.
    for (const { reader, detach } of this.#attached) {
      if (reader.at !== batch.after) {
        detach(true);
        continue;
      }
      try {
        const going = reader.give(batch);
        if (going !== undefined) detach(going);
      } catch (error) {
        // The failure of one reader, which ends only that one.
        detach(Promise.reject(error));
      }
    }
  }

  #wake(): void {
    this.wakes += 1;
    if (this.#refreshing) this.#wokenAgain = true;
    else inBackground(this.#refresh());
  }

  /** Runs one read at a time; a wake-up during a read causes one more, and so does a batch that is cut. */
  async #refresh(): Promise<void> {
    this.#refreshing = true;
    try {
      let isCut = false;
      do {
        this.#wokenAgain = false;
        isCut = this.#attached.size > 0 && (await this.#readOn());
      } while (this.#wokenAgain || isCut);
    } catch (error) {
      // Readers close and clients reconnect with their cursor: a storage fault is not the end of the log.
      this.#services.log.error('reading the tail of a log failed', error);
      this.#release(false);
    } finally {
      this.#refreshing = false;
    }
  }

  /** Reads and delivers the next batch. Returns true when there was more than one batch holds. */
  async #readOn(): Promise<boolean> {
    const { wakes } = this;
    const batch = await this.#read(this.#seq);
    if (batch === undefined) return false;
    this.#latest = batch;
    this.#seq = batch.lastSeq;
    this.#endedAtWake = batch.isCut ? undefined : wakes;
    this.#deliver(batch);
    if (batch.isCut) await nextTurn();
    return batch.isCut;
  }
}
