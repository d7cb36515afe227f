import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

const compareEveryMs = 10_000;
/** A comparison whose answer took longer says too little. */
const slowestAnswerMs = 1_000;

export interface DatabaseClockOptions {
  readonly store: Pick<Store, 'now'>;
  readonly timers: Pick<Clock, 'after'>;
  readonly log: Log;
  /** Time that no one can set: milliseconds since some moment of this process. */
  readonly elapsed: () => number;
}

/**
 * The database's time, carried on by this process between two looks at it. Servers whose own clocks differ, or
 * are set while they run, agree on when a lease, a token or a question runs out; and asking costs no round trip.
 */
export async function openDatabaseClock(options: DatabaseClockOptions): Promise<Clock> {
  const clock = new DatabaseClock(options);
  await clock.compare();
  clock.keepComparing();
  return clock;
}

class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** What has to be added to the time elapsed here. */
  #offset: number | undefined;
  #told = 0;

  constructor(options: DatabaseClockOptions) {
    this.#options = options;
  }

  /** Never goes back, so that what follows is never stamped before what it follows. */
  now(): number {
    const now = Math.floor(this.#options.elapsed() + (this.#offset ?? 0));
    this.#told = Math.max(this.#told, now);
    return this.#told;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#options.timers.after(ms, callback);
  }

  async compare(): Promise<void> {
    const { store, elapsed } = this.#options;
    const askedAt = elapsed();
    const theirs = await store.now();
    const tookMs = elapsed() - askedAt;
    if (this.#offset !== undefined && tookMs > slowestAnswerMs) return;
    this.#offset = theirs - (askedAt + tookMs / 2);
  }

  keepComparing(): void {
    this.#options.timers.after(compareEveryMs, () => {
      this.compare()
        .catch((error: unknown) =>
          this.#options.log.warn('the database did not tell the time; ours goes on', {
            reason: error instanceof Error ? error.message : String(error),
          }),
        )
        .finally(() => this.keepComparing());
    });
  }
}
