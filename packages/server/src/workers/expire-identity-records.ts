import type { Services } from '../app/services.ts';

const recordsPerPass = 500;

/** Deletes sessions, codes and refresh tokens whose time is over. True when there may be more. */
export async function sweepIdentityRecords({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  return store.transaction((tx) => tx.identityRecords.removeExpired(clock.now(), recordsPerPass));
}
