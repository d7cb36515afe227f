import type { TenantId } from '@convoke/contract';
import { type NoticeDraft, noticeBody } from '../../domain/notice.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { Services } from '../services.ts';

/**
 * Writes notices to the outbox, in the transaction of the change they tell (D-110). They have no number yet: a number
 * taken here would be skipped by readers whenever transactions commit in another order.
 */
export function announce(
  { fanout }: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  { tenantId, notices }: { readonly tenantId: TenantId; readonly notices: readonly NoticeDraft[] },
): void {
  if (notices.length === 0) return;
  tx.outbox.add(
    tenantId,
    notices.map((notice) => ({ type: notice.type, body: noticeBody(notice) })),
  );
  tx.onCommit(() => fanout.wake('notices'));
}
