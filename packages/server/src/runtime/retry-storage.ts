import type { Clock } from '../ports/clock.ts';
import { StorageUnavailable } from '../ports/errors.ts';

const retryMs = 500;

export interface RetryPolicy {
  readonly clock: Clock;
  /** Whether another attempt makes sense. */
  readonly shouldRetry: () => boolean;
}

/** Repeats idempotent work while the storage is unavailable: an outage delays a run and does not end it. */
export async function retryStorage<T>(
  { clock, shouldRetry }: RetryPolicy,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || !shouldRetry()) throw error;
      await new Promise<void>((resolve) => clock.after(retryMs, resolve));
    }
  }
}
