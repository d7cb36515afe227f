import type { Services } from '../app/services.ts';
import { partitionsAhead } from '../domain/event-partition.ts';

/** Creates the partitions of the event log for the coming weeks. */
export async function prepareEventLog({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  await store.eventPartitions.open(partitionsAhead(clock.now()));
  return false;
}
