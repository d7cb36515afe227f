import type { Clock } from '../ports/clock.ts';

/**
 * Resolves with the work's result, or with `late` once `ms` have passed. The work itself continues: a caller that
 * wants to stop it has to abort it. Rejects when the work rejects in time; a later rejection is ignored.
 */
export async function within<Result, Late>(
  { clock, ms, late }: { readonly clock: Clock; readonly ms: number; readonly late: Late },
  work: Promise<Result>,
): Promise<Result | Late> {
  const deadline = Promise.withResolvers<Late>();
  const cancelTimer = clock.after(ms, () => deadline.resolve(late));
  try {
    return await Promise.race([work, deadline.promise]);
  } finally {
    cancelTimer();
  }
}
