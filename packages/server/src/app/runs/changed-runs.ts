import type { TenantScope } from '../../domain/scope.ts';
import type { ChangePlace, ChangedRuns } from '../../ports/repositories/runs/changed-runs.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import type { Services } from '../services.ts';

/** D-469: runs are counted up to this number. */
const countedMax = 100_000;
/** Rows that one statement counts: SQLite counts on the thread of the server. */
const countedAtOnce = 2_000;

/** How many runs there are, up to `countedMax`. The thread gets a turn between two statements. */
export async function countChangedRuns(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  of: ChangedRuns,
): Promise<number> {
  const { changedRuns } = store.read;
  const limit = countedAtOnce;
  const few = await changedRuns.count(scope, of, { limit });
  if (few < limit) return few;
  let total = 0;
  for (const phase of of.phases) {
    const one = { ...of, phases: [phase] };
    let after: ChangePlace | undefined;
    for (;;) {
      await nextTurn();
      const last = await changedRuns.lastOf(scope, one, { after, limit });
      if (last === undefined) break;
      total += limit;
      if (total >= countedMax) return countedMax;
      after = last;
    }
    total += await changedRuns.count(scope, one, { after, limit });
  }
  return Math.min(total, countedMax);
}
