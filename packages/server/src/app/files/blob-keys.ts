import type { FileId, TenantId } from '@convoke/contract';
import type { BlobRemoval } from '../../domain/blob-removal.ts';
import { type FolderState, type SnapshotOwner, isArchived } from '../../domain/folder-snapshot.ts';

export interface BlobOwner {
  readonly tenantId: TenantId;
  readonly id: FileId;
}

/** The digest is part of the key: an upload that lost a race cannot overwrite the bytes of the winner. */
export function fileKey(file: BlobOwner, sha256: string): string {
  return `${filePrefix(file)}${sha256}`;
}

/** Prefix of every upload of a file. */
export function filePrefix({ tenantId, id }: BlobOwner): string {
  return `${tenantId}/${id}-`;
}

/** Key of the archive that holds this state of a session folder; undefined when no archive does. */
export function snapshotKey(
  { tenantId, sessionId }: SnapshotOwner,
  state: FolderState | null,
): string | undefined {
  return state !== null && isArchived(state) ? `${tenantId}/${sessionId}-${state}` : undefined;
}

/** The key of the blob, or the prefix of all blobs of the owner. */
export function blobPrefix({ tenantId, ownerId, sha256 }: BlobRemoval): string {
  return `${tenantId}/${ownerId}-${sha256}`;
}

/** Prefix of every blob of a tenant. */
export function tenantPrefix(tenantId: TenantId): string {
  return `${tenantId}/`;
}
