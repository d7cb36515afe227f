import { limits } from '@convoke/contract';
import type { Services } from '../../app/services.ts';

const deliveriesPerPass = 500;
const dayMs = 24 * 60 * 60 * 1000;

/** Deletes deliveries of webhooks after their time, whatever their outcome. */
export async function forgetDeliveries({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  const before = clock.now() - limits.deliveryDays * dayMs;
  return store.transaction((tx) => tx.deliveries.forget(before, deliveriesPerPass));
}
