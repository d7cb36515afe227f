import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

const compareEveryMs = 10_000;
/** A comparison whose answer took longer is too inaccurate to use. */
const answerMaxMs = 1_000;

export interface DatabaseClockOptions {
  readonly store: Pick<Store, 'now'>;
  readonly timers: Pick<Clock, 'after'>;
  readonly log: Log;
  /** A monotonic clock: milliseconds since some moment of this process. */
  readonly elapsed: () => number;
}

/**
 * The time of the database, compared every few seconds and extrapolated by a monotonic clock in between. Servers whose
 * system clocks differ, or are set while they run, so agree on when a lease, a token or an interaction expires, and
 * reading the clock costs no round trip.
 */
export async function openDatabaseClock(options: DatabaseClockOptions): Promise<Clock> {
  const clock = new DatabaseClock(options);
  await clock.compare();
  clock.keepComparing();
  return clock;
}

class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** Database time minus `elapsed()`. */
  #offset: number | undefined;
  #lastNow = 0;

  constructor(options: DatabaseClockOptions) {
    this.#options = options;
  }

  /** Never goes back, so that an effect is never stamped before its cause. */
  now(): number {
    const now = Math.floor(this.#options.elapsed() + (this.#offset ?? 0));
    this.#lastNow = Math.max(this.#lastNow, now);
    return this.#lastNow;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#options.timers.after(ms, callback);
  }

  async compare(): Promise<void> {
    const { store, elapsed } = this.#options;
    const askedAt = elapsed();
    const theirs = await store.now();
    const tookMs = elapsed() - askedAt;
    if (this.#offset !== undefined && tookMs > answerMaxMs) return;
    this.#offset = theirs - (askedAt + tookMs / 2);
  }

  keepComparing(): void {
    this.#options.timers.after(compareEveryMs, () => {
      this.compare()
        .catch((error: unknown) =>
          this.#options.log.warn('database time could not be read; keeping the last offset', {
            reason: error instanceof Error ? error.message : String(error),
          }),
        )
        .finally(() => this.keepComparing());
    });
  }
}
