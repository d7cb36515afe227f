import { limits } from '@convoke/contract';
import type { Services } from '../../app/services.ts';

const firesPerPass = 500;
const dayMs = 24 * 60 * 60 * 1000;

/** Deletes what is kept about slots of schedules after its time. A slot cannot come again: its schedule is past it. */
export async function forgetFires({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  const before = clock.now() - limits.scheduleFireDays * dayMs;
  return store.transaction((tx) => tx.schedules.forgetFires(before, firesPerPass));
}
