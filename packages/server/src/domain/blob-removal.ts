import type { FileId, SessionId, TenantId } from '@convoke/contract';

/**
 * Blobs that are to be removed. The row is written in the transaction after which nothing needs the blobs, or before a
 * blob is stored that no other row names yet; the transaction that names the blob deletes the row. So a crash at any
 * moment leaves a row behind, never bytes alone.
 */
export interface BlobRemoval {
  readonly tenantId: TenantId;
  readonly ownerId: FileId | SessionId;
  /** Empty: all blobs of the owner, which has been deleted and whose id is never used again. */
  readonly sha256: string;
}

/** Storing bytes and recording them takes moments; after this time the worker that did it has failed. */
export const blobRecordingMs = 60 * 60 * 1000;

/** How long the server that claimed a removal may take, before another one repeats it. */
export const blobRemovalMs = 60 * 1000;
