/** What a caller has left. `limit` is 0 where nothing is limited. */
export interface Allowance {
  readonly ok: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until everything is there again. */
  readonly resetSeconds: number;
  /** Until the next one is allowed; 0 when one is allowed now. */
  readonly retryAfterSeconds: number;
}

export interface RateLimit {
  /** Uses one up, if there is one. */
  take(key: string): Allowance;
  /** Whether `take` would succeed now. */
  look(key: string): Allowance;
}
