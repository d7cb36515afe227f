import type { RunId } from '@convoke/contract';
import { isTerminalRunStatus } from '@convoke/contract';
import { type RunEvent, endsRun } from '../domain/run-event.ts';
import type { Run } from '../domain/run.ts';
import { readLog } from './run-log.ts';
import type { Services } from './services.ts';

/**
 * A reader is a cursor over a run's log. It reads pages until it has caught up, then shares one tail per run
 * with all readers of this process: a wake-up costs one read and one rendering for all of them. A reader that
 * falls behind reads pages again.
 */
export interface Follow {
  readonly run: Run;
  /** Replay starts strictly after this sequence number (spec §6.2). */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Turns events into the form in which readers get them. */
export type RenderEvents<Rendered> = (events: readonly RunEvent[]) => Rendered;

/** The events of one commit or one page, rendered once and shared between readers. */
export interface EventBatch<Rendered> {
  readonly after: number;
  readonly lastSeq: number;
  readonly rendered: Rendered;
  /** True when the last one is the terminal event. */
  readonly ended: boolean;
  /** True when the log had more events at the time of the read. */
  readonly isCut: boolean;
}

/**
 * A page with the SSE lines around its events, plus the bytes a connection may already buffer, stays below the
 * 256 KiB of D-33 for a reader that does not read. Only a single larger event takes more.
 */
const pageBounds = { limit: 1000, maxBytes: 128 * 1024 };

/** Longest delay that a lost wake-up can cause. */
const pollMs = 1000;
const runsPerPoll = 500;

type FollowServices = Pick<Services, 'store' | 'fanout' | 'clock' | 'log' | 'metrics'>;

export class RunFollower<Rendered> {
  readonly #services: FollowServices;
  readonly #render: RenderEvents<Rendered>;
  readonly #tails = new Map<RunId, Tail<Rendered>>();

  constructor(services: FollowServices, render: RenderEvents<Rendered>) {
    this.#services = services;
    this.#render = render;
    if (!services.fanout.lossless) this.#poll();
  }

  async *follow({ run, after, signal }: Follow): AsyncGenerator<EventBatch<Rendered>> {
    const end = isTerminalRunStatus(run.status) ? run.lastSeq : undefined;
    if (end !== undefined && after >= end) return;
    // Subscribe before the first read, so that no write between the two is missed.
    const tail = this.#join(run);
    try {
      let cursor = after;
      while (!signal.aborted) {
        const { wakes } = tail;
        const batch = tail.isReadTo(cursor)
          ? undefined
          : (tail.batchAfter(cursor) ?? (await this.#page(run, cursor)));
        if (batch === undefined) {
          if (!(await tail.waitBeyond(cursor, wakes, signal))) return;
          continue;
        }
        yield batch;
        if (batch.ended) return;
        cursor = batch.lastSeq;
      }
    } finally {
      this.#leave(run.id, tail);
    }
  }

  async #page(run: Run, after: number): Promise<EventBatch<Rendered> | undefined> {
    const { events, isCut } = await readLog(this.#services, run, { after, ...pageBounds });
    const last = events.at(-1);
    if (last === undefined) return undefined;
    return {
      after,
      lastSeq: last.seq,
      rendered: this.#render(events),
      ended: endsRun(last),
      isCut,
    };
  }

  /** Polls where wake-ups can be lost: one query for many tails. */
  #poll(): void {
    this.#services.clock.after(pollMs, () => {
      this.#pollTails()
        .catch((error: unknown) => this.#services.log.error('polling of run logs failed', error))
        .finally(() => this.#poll());
    });
  }

  async #pollTails(): Promise<void> {
    const runIds = Array.from(this.#tails.keys());
    for (let from = 0; from < runIds.length; from += runsPerPoll) {
      const asked = runIds.slice(from, from + runsPerPoll);
      for (const { id, lastSeq } of await this.#services.store.read.runs.lastSeqs(asked)) {
        this.#tails.get(id)?.learn(lastSeq);
      }
    }
  }

  #join(run: Run): Tail<Rendered> {
    const tail =
      this.#tails.get(run.id) ?? new Tail(this.#services, run.id, (at) => this.#page(run, at));
    this.#tails.set(run.id, tail);
    tail.readers += 1;
    return tail;
  }

  #leave(runId: RunId, tail: Tail<Rendered>): void {
    tail.readers -= 1;
    if (tail.readers > 0) return;
    tail.close();
    if (this.#tails.get(runId) === tail) this.#tails.delete(runId);
  }
}

/** The newest events of one run, for readers that have seen everything before. */
class Tail<Rendered> {
  readers = 0;
  wakes = 0;
  readonly #services: FollowServices;
  readonly #read: (after: number) => Promise<EventBatch<Rendered> | undefined>;
  readonly #unsubscribe: () => void;
  #latest: EventBatch<Rendered> | undefined;
  #seq = 0;
  /** `wakes` before the read that found the end of the log at `#seq`. */
  #endedAtWake: number | undefined;
  #waiting = new Set<(isOpen: boolean) => void>();
  #refreshing = false;
  #wokenAgain = false;

  constructor(
    services: FollowServices,
    runId: RunId,
    read: (after: number) => Promise<EventBatch<Rendered> | undefined>,
  ) {
    this.#services = services;
    this.#read = read;
    this.#unsubscribe = services.fanout.subscribe(`run:${runId}`, () => this.#wake());
  }

  /** Called with the last sequence number that the poll found. */
  learn(lastSeq: number): void {
    if (lastSeq <= this.#seq) return;
    if (this.#waiting.size > 0 && !this.#refreshing) this.#services.metrics.wakeupsMissed.add(1);
    this.#wake();
  }

  batchAfter(cursor: number): EventBatch<Rendered> | undefined {
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
      // Readers close and clients reconnect with their cursor: a storage fault is not the end of the run.
      this.#services.log.error('reading the tail of a run failed', error);
      this.#release(false);
    } finally {
      this.#refreshing = false;
    }
  }
}
