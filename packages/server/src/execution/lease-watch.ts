import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/** Of a lease, what is kept back for a clock that runs a little fast and for the way to the database. */
const reserve = 0.1;

export interface LeaseWatchOptions {
  readonly owner: string;
  readonly leaseMs: number;
  readonly store: Store;
  readonly clock: Clock;
  /** Time that no one can set: milliseconds since some moment of this process. */
  readonly elapsed: () => number;
}

/**
 * What this server knows of its own leases. It renews them all together; when it could not for as long as a
 * lease lasts, others may have taken its runs, and it must not act for them any more. Time is counted from
 * before each renewal was sent, so this server always gives up first, stopped or cut off as it may have been.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  #renewedAt: number;
  /** Since when renewals have come in time. */
  #steadySince: number;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#renewedAt = options.elapsed();
    this.#steadySince = this.#renewedAt;
  }

  /** Whether nobody else can have been given what this server holds. */
  get holds(): boolean {
    const { elapsed, leaseMs } = this.#options;
    return elapsed() - this.#renewedAt < leaseMs * (1 - reserve);
  }

  /**
   * Whether others' leases may be judged. After the database was away all of them have run out, through
   * nobody's fault: their holders get the time to renew that they need when they are well.
   */
  get mayJudge(): boolean {
    const { elapsed, leaseMs } = this.#options;
    return this.holds && elapsed() - this.#steadySince >= (leaseMs * 2) / 3;
  }

  async renew(): Promise<void> {
    const { owner, leaseMs, store, clock, elapsed } = this.#options;
    const sentAt = elapsed();
    await store.transaction((tx) => tx.runs.renewLeases(owner, clock.now() + leaseMs));
    if (sentAt - this.#renewedAt > leaseMs / 2) this.#steadySince = sentAt;
    this.#renewedAt = sentAt;
  }
}
