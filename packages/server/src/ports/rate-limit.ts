/** The state of a rate limit for one key. `limit` is 0 where there is no limit. */
export interface Allowance {
  readonly ok: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the whole burst is available again. */
  readonly resetSeconds: number;
  /** Until the next request is allowed; 0 when one is allowed now. */
  readonly retryAfterSeconds: number;
}

/** A limit that all servers of a deployment count together. */
export interface SharedRateLimit {
  /** Takes one token, if there is one. */
  take(key: string): Promise<Allowance>;
}

export interface RateLimit {
  /** Takes one token, if there is one. */
  take(key: string): Allowance;
}
