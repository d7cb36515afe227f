import { percentUsed, periodStart, appliesTo } from '../../domain/usage/budget.ts';
import type { Countable } from '../../domain/usage/usage-totals.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { announce } from '../feed/notices.ts';
import type { Services } from '../services.ts';

/** Shares of a budget that are announced, in percent. */
const shares = [80, 100] as const;

/**
 * Announces the budgets of which reports have used a share for the first time in a period (D-132). The pass that counts
 * reports calls it: it sees all that are committed, so that no share is missed, however many runs reported at once.
 */
export async function announceBudgets(
  services: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  counted: readonly Countable[],
): Promise<void> {
  const reports = counted.filter(({ model }) => model !== '');
  for (const [organizationId, ofOrganization] of Map.groupBy(
    reports,
    (report) => report.organizationId,
  )) {
    const at = Math.max(...ofOrganization.map((report) => report.at));
    for (const { budget, spent } of await tx.budgets.states(organizationId, at)) {
      const report = ofOrganization.findLast((one) => appliesTo(budget, one));
      if (report === undefined) continue;
      const used = percentUsed(budget.ceiling, spent);
      const { id } = budget;
      for (const percent of shares.filter((share) => used >= share)) {
        const startsAt = periodStart(budget.period, at);
        if (!(await tx.budgets.noteReached({ id, startsAt, percent }))) continue;
        const notice = { type: 'budget_reached', at, data: { budget_id: id, percent } } as const;
        announce(services, tx, { tenantId: report.tenantId, notices: [notice] });
      }
    }
  }
}
