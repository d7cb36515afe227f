import type { Clock } from '../ports/clock.ts';
import type { Allowance, SharedRateLimit } from '../ports/rate-limit.ts';
import type { Store } from '../ports/store.ts';
import { type Rate, noLimit } from './rate-limit.ts';

const minuteUs = 60_000_000;

/**
 * A token bucket per key that all servers of a deployment share: the same rule as `createRateLimit`, with the buckets
 * in the database. For rare calls, because each costs a transaction (spec §8: the rate of management).
 */
export function createSharedRateLimit(
  { store, clock }: { readonly store: Store; readonly clock: Pick<Clock, 'now'> },
  { perMinute, burst }: Rate,
): SharedRateLimit {
  if (perMinute === 0) return { take: async () => noLimit };
  const tokenUs = Math.ceil(minuteUs / perMinute);
  const capacityUs = burst * tokenUs;
  const seconds = (us: number) => Math.ceil(us / 1_000_000);
  return {
    async take(key): Promise<Allowance> {
      const nowUs = clock.now() * 1000;
      const { taken, fullAtUs } = await store.transaction((tx) =>
        tx.rateLimits.take({ key, nowUs, tokenUs, capacityUs }),
      );
      // Another server's clock may be a little ahead.
      const usedUs = Math.min(Math.max(fullAtUs - nowUs, 0), capacityUs);
      return {
        ok: taken,
        limit: burst,
        remaining: Math.floor((capacityUs - usedUs) / tokenUs),
        resetSeconds: seconds(usedUs),
        retryAfterSeconds: seconds(Math.max(usedUs + tokenUs - capacityUs, 0)),
      };
    },
  };
}
