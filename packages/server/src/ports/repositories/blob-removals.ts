import type { TenantId } from '@convoke/contract';
import type { BlobRemoval } from '../../domain/blob-removal.ts';

export interface BlobRemovalRepository {
  /** Adds the removal, or changes when it is due. */
  schedule(removal: BlobRemoval, dueAt: number): Promise<void>;
  /**
   * Cancels the removal because a row now names the blob. False when there is none to cancel: the blob may be gone, so
   * the row must not be written.
   */
  keep(removal: BlobRemoval): Promise<boolean>;
  due(now: number, limit: number): Promise<BlobRemoval[]>;
  /**
   * Claims a due removal until `until`; afterwards `keep` fails. False when another server was first, or when a row
   * names the blob: then the removal is cancelled.
   */
  claim(
    removal: BlobRemoval,
    times: { readonly now: number; readonly until: number },
  ): Promise<boolean>;
  /** Deletes the row of a removal that is complete. */
  remove(removal: BlobRemoval): Promise<void>;
  /** Deletes up to `limit` rows of a tenant; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}
