import type { NumberedNotices } from '../../domain/notice.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { Services } from '../services.ts';
import { deliverNotices } from '../webhooks/deliveries.ts';

/**
 * Makes something from notices in the transaction that numbers them, so that each notice is used exactly once. It
 * should write few rows: other notices of the tenant wait for it.
 */
type NoticeConsumer = (
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'ids'>,
  tx: StoreTransaction,
  numbered: NumberedNotices,
) => Promise<void>;

/** Everything that is made from notices beside the feed. */
export const noticeConsumers: readonly NoticeConsumer[] = [deliverNotices];
