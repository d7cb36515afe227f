import type { TenantId } from '@convoke/contract';
import type { Notice } from '../../../domain/notice.ts';
import type { TenantScope } from '../../../domain/scope.ts';

export interface FeedRepository {
  /**
   * Locks the feed of a tenant until the transaction ends; undefined while another transaction holds it (SKIP LOCKED).
   */
  tryLock(tenantId: TenantId): Promise<FeedBounds | undefined>;
  /** Appends notices that continue the numbers of the locked feed. `at` is the time at which they get them. */
  append(tenantId: TenantId, notices: readonly Notice[], at: number): Promise<void>;
  bounds(scope: Pick<TenantScope, 'tenantId'>): Promise<FeedBounds>;
  /** Notices strictly after `after`, in order, bounded by count. The first may be later than the next number. */
  after(
    scope: Pick<TenantScope, 'tenantId'>,
    after: number,
    limit: number,
  ): Promise<readonly Notice[]>;
  /** The newest numbers of these feeds. */
  lastSeqs(
    tenantIds: readonly TenantId[],
  ): Promise<{ readonly id: TenantId; readonly lastSeq: number }[]>;
  /** The first tenant, by id, after this one whose oldest notice was numbered before a time. */
  nextTenantWithOld(after: TenantId | undefined, before: number): Promise<TenantId | undefined>;
  /** Deletes the oldest notices of a locked feed that were numbered before a time; returns their number. */
  forget(tenantId: TenantId, before: number, limit: number): Promise<number>;
  /** Deletes up to `limit` notices of a tenant, and its feed after the last; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface FeedBounds {
  /** The number of the newest notice; 0 before the first. */
  readonly lastSeq: number;
  /** The number of the oldest notice that is kept; `lastSeq + 1` when none is. */
  readonly oldestSeq: number;
}
