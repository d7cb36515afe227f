import type { TenantId } from '@convoke/contract';
import type { Services } from '../../app/services.ts';

/** Rows deleted in one transaction: few enough that numbering hardly waits. */
const rowsPerTransaction = 500;

/** D-113: deletes notices that are older than the retention. */
export async function forgetOldNotices(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  retentionMs: number,
): Promise<boolean> {
  const before = clock.now() - retentionMs;
  const forget = (tenantId: TenantId) =>
    store.transaction(async (tx) => {
      // Numbering has the feed now: the next pass gets to it.
      if ((await tx.feeds.tryLock(tenantId)) === undefined) return 0;
      return tx.feeds.forget(tenantId, before, rowsPerTransaction);
    });
  let tenant = await store.read.feeds.nextTenantWithOld(undefined, before);
  while (tenant !== undefined) {
    while ((await forget(tenant)) === rowsPerTransaction);
    tenant = await store.read.feeds.nextTenantWithOld(tenant, before);
  }
  return false;
}
