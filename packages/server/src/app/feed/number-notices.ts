import type { TenantId } from '@convoke/contract';
import { numberNotice } from '../../domain/notice.ts';
import { deliverNotices } from '../webhooks/deliveries.ts';
import type { Services } from '../services.ts';

/** Notices numbered in one transaction. */
const perTransaction = 500;

/**
 * D-111: moves the oldest notices of a tenant from its outbox to its feed, with the next numbers, in one transaction
 * with everything that is made from them. The lock on the feed lets one server at a time do it. Returns whether there
 * may be more.
 */
export async function numberNotices(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'ids'>,
  tenantId: TenantId,
): Promise<boolean> {
  const { store, clock, fanout } = services;
  return store.transaction(async (tx) => {
    const feed = await tx.feeds.tryLock(tenantId);
    if (feed === undefined) return false;
    const taken = await tx.outbox.take(tenantId, perTransaction);
    if (taken.length === 0) return false;
    const at = clock.now();
    const notices = taken.map((plain, index) => numberNotice(plain, feed.lastSeq + index + 1));
    await tx.feeds.append(tenantId, notices, at);
    await deliverNotices(services, tx, { tenantId, notices, at });
    tx.onCommit(() => fanout.wake(`feed:${tenantId}`));
    return taken.length === perTransaction;
  });
}
