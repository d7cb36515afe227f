import { lockRun } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import { isLeased } from '../../domain/run/run.ts';
import type { ClaimedLeg } from '../claim-leg.ts';
import { recordSnapshot } from './record-snapshot.ts';
import { archiveAgain } from './save-snapshot.ts';

type RenamingServices = Pick<Services, 'store' | 'clock' | 'blobs' | 'sessionFolders' | 'log'>;

/**
 * D-91: archives the session folder under a new name before a leg continues elsewhere after a loss. Otherwise the
 * machine of the lost leg, back with later files, would take them for the current ones.
 */
export async function renameFolder(services: RenamingServices, claimed: ClaimedLeg): Promise<void> {
  const { run, holder } = claimed;
  const saved = await archiveAgain(services, claimed);
  if (saved === undefined) return;
  const isRecorded = await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, holder);
    if (seen?.run.leaseEpoch !== run.leaseEpoch || !isLeased(seen.run)) return false;
    await recordSnapshot(services, tx, { owner: holder, snapshot: saved.state });
    return true;
  });
  await (isRecorded ? saved.settle() : saved.abandon());
}
