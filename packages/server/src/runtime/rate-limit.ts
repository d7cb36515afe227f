import { limits } from '@convoke/contract';
import type { Clock } from '../ports/clock.ts';
import type { Allowance, RateLimit } from '../ports/rate-limit.ts';

export interface Rate {
  /** 0 means no limit (D-68). */
  readonly perMinute: number;
  readonly burst: number;
}

/** D-68: a deployment sets the rate; the burst follows from it, in the proportion of the defaults. */
export function managementRate(perMinute: number): Rate {
  return { perMinute, burst: Math.ceil(perMinute / 3) };
}

export function apiRate(perMinute: number): Rate {
  return { perMinute, burst: Math.ceil(perMinute / 6) };
}

/** D-200: calls of the tokens of one session, which a page makes. */
export const sessionRate: Rate = {
  perMinute: limits.sessionRatePerMinute,
  burst: limits.sessionRateBurst,
};

/** Failures of client authentication, per client id and address. */
export const tokenFailureRate: Rate = { perMinute: 10, burst: 10 };

/** D-524: rows of the audit log about calls that were decided without a person, per organization. */
export const auditedCallRate: Rate = { perMinute: 600, burst: 600 };

/** Token exchanges of the console (D-151), per person and network: each tab needs one in nine minutes and tenant. */
export const tokenExchangeRate: Rate = { perMinute: 60, burst: 60 };
/** The same from one network: an office may share one address. */
export const tokenExchangeNetworkRate: Rate = { perMinute: 600, burst: 600 };

/**
 * A token bucket per key, kept as the one number that describes it: the moment at which it is full again
 * ("theoretical arrival time" of GCRA). Moments are counted in units of 1/perMinute ms since
 * the start, so that all arithmetic is on whole numbers and a fake clock shows exact results.
 *
 * A bucket is forgotten only when it is full again: a caller cannot push its own bucket out with other keys. While
 * every place is taken by a bucket in use, new keys are refused.
 */
export function createRateLimit(clock: Clock, { perMinute, burst }: Rate): RateLimit {
  if (perMinute === 0) return unlimited;
  const startedAt = clock.now();
  const fullAt = new Map<string, number>();
  const capacity = burst * minuteMs;
  const now = () => (clock.now() - startedAt) * perMinute;
  const seconds = (units: number) => Math.ceil(units / perMinute / 1000);
  let [sweptAt, sweepsAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  /** How much of the bucket is used, capped because a clock that was set back would yield more than the capacity. */
  const usedOf = (key: string) => {
    const used = (fullAt.get(key) ?? Number.NEGATIVE_INFINITY) - now();
    return Math.min(Math.max(used, 0), capacity);
  };
  const allowance = (used: number, ok: boolean): Allowance => ({
    ok,
    limit: burst,
    remaining: Math.floor((capacity - used) / minuteMs),
    resetSeconds: seconds(used),
    retryAfterSeconds: seconds(Math.max(used + minuteMs - capacity, 0)),
  });

  /** Forgets full buckets. Sweeps again when the next one can be full, and at most once a second. */
  function sweep(): void {
    const at = now();
    if (at < sweepsAt && at >= sweptAt) return;
    let next = Number.POSITIVE_INFINITY;
    for (const key of fullAt.keys()) {
      const used = usedOf(key);
      if (used === 0) fullAt.delete(key);
      else next = Math.min(next, at + used);
    }
    sweptAt = at;
    sweepsAt = Math.max(next, at + 1000 * perMinute);
  }
  function hasPlaceFor(key: string): boolean {
    if (fullAt.has(key) || fullAt.size < keysMax) return true;
    sweep();
    return fullAt.size < keysMax;
  }
  const noPlace = (): Allowance => {
    const wait = Math.max(seconds(sweepsAt - now()), 1);
    return { ok: false, limit: burst, remaining: 0, resetSeconds: wait, retryAfterSeconds: wait };
  };

  return {
    take(key) {
      if (!hasPlaceFor(key)) return noPlace();
      const before = usedOf(key);
      const ok = before + minuteMs <= capacity;
      const used = ok ? before + minuteMs : before;
      fullAt.set(key, now() + used);
      return allowance(used, ok);
    },
  };
}

const minuteMs = 60_000;
/** Bounds the memory. */
const keysMax = 10_000;

export const noLimit: Allowance = {
  ok: true,
  limit: 0,
  remaining: 0,
  resetSeconds: 0,
  retryAfterSeconds: 0,
};
const unlimited: RateLimit = { take: () => noLimit };
