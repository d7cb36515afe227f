import { checkChain } from '../app/audit-checks.ts';
import type { Services } from '../app/services.ts';
import { walkEveryMs, walkWrongEveryMs } from '../domain/audit.ts';

const chainsPerPass = 10;

/**
 * Checks rows of the audit chains that nothing has checked yet, and all rows once a day. True when there may be more.
 */
export async function checkAudit(services: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  const { store, clock } = services;
  const now = clock.now();
  const due = { allBefore: now - walkEveryMs, wrongBefore: now - walkWrongEveryMs };
  const chains = await store.read.audit.toCheck(due, chainsPerPass);
  let hasMore = chains.length === chainsPerPass;
  for (const chain of chains) {
    if (await checkChain(services, chain)) hasMore = true;
  }
  return hasMore;
}
