import type { Services } from '../../app/services.ts';

const bucketsPerPass = 500;

/** Deletes the buckets of callers that have not used any of their rate lately. */
export async function forgetRateLimits({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  return store.transaction((tx) => tx.rateLimits.removeFull(clock.now() * 1000, bucketsPerPass));
}
