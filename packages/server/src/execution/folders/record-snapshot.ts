import type { RunAddress } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import { type FolderState, isArchived, localState } from '../../domain/folder-snapshot.ts';
import type { StoreTransaction } from '../../ports/store.ts';

/** The session names the new archive from here on, and its archive before is removed. */
export async function recordSnapshot(
  { clock }: Pick<Services, 'clock'>,
  tx: StoreTransaction,
  { owner, snapshot }: { owner: RunAddress; snapshot: FolderState },
): Promise<void> {
  const { scope, sessionId } = owner;
  const blobOf = (sha256: string) => ({ tenantId: scope.tenantId, ownerId: sessionId, sha256 });
  const before = await tx.sessions.snapshot(sessionId);
  const isKept = !isArchived(snapshot) || (await tx.blobRemovals.keep(blobOf(snapshot)));
  // A commit whose answer was lost has named it already: then no removal is left to be called off.
  const isStored = isKept || before === snapshot;
  // An archive that was removed in the meantime, after an hour, must not be named: the folder is on this machine only.
  tx.sessions.saveSnapshot(sessionId, isStored ? snapshot : localState(snapshot));
  if (before !== null && before !== snapshot && isArchived(before)) {
    await tx.blobRemovals.schedule(blobOf(before), clock.now());
  }
}
