import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/** Safety margin: a lease counts as lost at 90 % of its time, for clock drift and the latency of the database. */
const safetyMargin = 0.1;

export interface LeaseWatchOptions {
  readonly owner: string;
  readonly leaseMs: number;
  readonly store: Store;
  readonly clock: Clock;
  /** Monotonic time in milliseconds. */
  readonly elapsed: () => number;
  /** Called with the time for which the leases hold from now on. */
  readonly onHeld: (ms: number) => void;
}

/**
 * Renews the leases of this server, all together, and knows whether they still hold. After a lease's time without
 * a renewal other servers may have ended its runs, and this server must not act for them. Time counts from before
 * a renewal is sent, so this server always gives up first, even if it was suspended or disconnected.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  /** When the latest successful renewal was sent; a server holds no lease before its start. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Since when renewals have come in time. */
  #steadySince = Number.POSITIVE_INFINITY;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#renewedAt = this.#options.elapsed();
    this.#steadySince = this.#renewedAt;
    this.#options.onHeld(this.#leftMs);
  }

  /** True while no other server can have taken over a lease of this one. */
  get holds(): boolean {
    return this.#leftMs > 0;
  }

  /**
   * Whether an expired lease of another server means that the server is gone. After an outage of the database all
   * leases have expired: their holders get the time of a renewal first.
   */
  get canTrustExpiry(): boolean {
    const { elapsed, leaseMs } = this.#options;
    return this.holds && elapsed() - this.#steadySince >= (leaseMs * 2) / 3;
  }

  /** A pass; never has more to do at once. */
  async renew(): Promise<false> {
    const { owner, leaseMs, store, clock, elapsed } = this.#options;
    const sentAt = elapsed();
    await store.transaction((tx) => tx.runs.renewLeases(owner, clock.now() + leaseMs));
    if (sentAt - this.#renewedAt > leaseMs / 2) this.#steadySince = sentAt;
    this.#renewedAt = sentAt;
    if (this.holds) this.#options.onHeld(this.#leftMs);
    return false;
  }

  get #leftMs(): number {
    const { elapsed, leaseMs } = this.#options;
    return leaseMs * (1 - safetyMargin) - (elapsed() - this.#renewedAt);
  }
}
