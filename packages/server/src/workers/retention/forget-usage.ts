import type { Services } from '../../app/services.ts';
import type { UsageGrain } from '../../domain/usage/usage-totals.ts';

const dayMs = 24 * 3_600_000;
/** Longer than a reading may go back (`limits.usageDaysMax`); days are kept for comparisons with the year before. */
const keptDays: Readonly<Record<UsageGrain, number>> = { hour: 100, day: 800, session: 800 };
const rowsPerTransaction = 500;

/** Deletes old totals of usage, and what was used of budgets in old periods. */
export async function forgetUsage({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  let hasMore = false;
  for (const grain of ['hour', 'day', 'session'] as const) {
    const before = clock.now() - keptDays[grain] * dayMs;
    const removed = await store.transaction((tx) =>
      tx.usageTotals.forget(grain, before, rowsPerTransaction),
    );
    hasMore ||= removed === rowsPerTransaction;
  }
  const labelsBefore = clock.now() - keptDays.day * dayMs;
  const labels = await store.transaction((tx) =>
    tx.usageTotals.forgetLabels(labelsBefore, rowsPerTransaction),
  );
  hasMore ||= labels === rowsPerTransaction;
  const before = clock.now() - keptDays.hour * dayMs;
  const periods = await store.transaction((tx) => tx.budgets.forget(before, rowsPerTransaction));
  return hasMore || periods === rowsPerTransaction;
}
