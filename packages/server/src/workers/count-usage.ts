import { announceBudgets } from '../app/usage/budget-notices.ts';
import type { Services } from '../app/services.ts';
import { labelTotalsOf, totalsOf } from '../domain/usage/usage-totals.ts';

/** Reports and runs that one transaction counts. */
const perTransaction = 500;

/**
 * Adds new reports and ended runs to the totals (D-130). A pass does it, because runs of one tenant that end together
 * would otherwise wait for each other's commits. Taking and adding is one transaction, so each counts exactly once.
 */
export async function countUsage(
  services: Pick<Services, 'store' | 'prices' | 'fanout'>,
): Promise<boolean> {
  const { store, prices } = services;
  return store.transaction(async (tx) => {
    const taken = await tx.usageTotals.take(perTransaction, prices.currency);
    if (taken.length === 0) return false;
    tx.usageTotals.add(totalsOf(taken));
    tx.usageTotals.addLabels(labelTotalsOf(taken));
    await announceBudgets(services, tx, taken);
    return taken.length >= perTransaction;
  });
}
