import { type BlobRemoval, blobRecordingMs, blobRemovalMs } from '../../domain/blob-removal.ts';
import type { StagedBlob } from '../../ports/blobs.ts';
import { blobPrefix } from './blob-keys.ts';
import type { Services } from '../services.ts';

/**
 * Stores bytes that no row names yet. The row of their removal is committed first: if this process dies before a
 * transaction names them and calls `blobRemovals.keep`, a worker removes them.
 */
export async function publishRemovable(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  staged: Pick<StagedBlob, 'publish'>,
  removal: BlobRemoval,
): Promise<void> {
  const dueAt = clock.now() + blobRecordingMs;
  await store.transaction((tx) => tx.blobRemovals.schedule(removal, dueAt));
  await staged.publish(blobPrefix(removal));
}

/** Removes blobs that are due, and then the row that asks for it. May be repeated after a failure at any point. */
export async function finishBlobRemoval(
  { store, clock, blobs }: Pick<Services, 'store' | 'clock' | 'blobs'>,
  removal: BlobRemoval,
): Promise<void> {
  // The id of a deleted owner is never used again, so that any number of servers may remove its blobs.
  if (removal.sha256 !== '') {
    const now = clock.now();
    const times = { now, until: now + blobRemovalMs };
    if (!(await store.transaction((tx) => tx.blobRemovals.claim(removal, times)))) return;
  }
  await blobs.removeAll(blobPrefix(removal));
  await store.transaction((tx) => tx.blobRemovals.remove(removal));
}
