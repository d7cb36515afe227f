import type { TenantId } from '@convoke/contract';
import { numberNotices } from '../app/feed/number-notices.ts';
import type { Services } from '../app/services.ts';
import type { Pass } from './driver.ts';

/** Tenants visited in one pass. */
const tenantsPerPass = 100;

/**
 * D-111: returns the pass that numbers the notices of every tenant that has some. Servers share the tenants: a locked
 * one is skipped. A pass continues after the tenant that the one before ended with, so a busy tenant delays no other.
 */
export function numberingPass(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'ids'>,
): Pass {
  let after: TenantId | undefined;
  return async () => {
    let hasMore = false;
    for (let visited = 0; visited < tenantsPerPass; visited += 1) {
      after = await services.store.read.outbox.nextTenant(after);
      if (after === undefined) return hasMore;
      hasMore = (await numberNotices(services, after)) || hasMore;
    }
    return true;
  };
}
