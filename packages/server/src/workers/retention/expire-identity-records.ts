import type { Services } from '../../app/services.ts';

const recordsPerPass = 500;

/** Deletes sign-in sessions, codes and refresh tokens that have expired. */
export async function expireIdentityRecords({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): Promise<boolean> {
  return store.transaction((tx) => tx.identityRecords.removeExpired(clock.now(), recordsPerPass));
}
