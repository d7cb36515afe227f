import { finishBlobRemoval } from '../../app/files/blob-removals.ts';
import type { Services } from '../../app/services.ts';

const perPass = 50;

/** Removes blobs that nothing needs any longer, also those whose removal a crash or a failing store interrupted. */
export async function removeBlobs(
  services: Pick<Services, 'store' | 'clock' | 'blobs'>,
): Promise<boolean> {
  const due = await services.store.read.blobRemovals.due(services.clock.now(), perPass);
  const errors: unknown[] = [];
  // One that fails must not keep the others from being removed.
  for (const removal of due) {
    await finishBlobRemoval(services, removal).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
  return due.length === perPass;
}
