import type { TenantId } from '@convoke/contract';
import type { Notice } from '../../../domain/notice.ts';

/** A notice that has no number yet. */
export type PlainNotice = Pick<Notice, 'type' | 'body'>;

export interface OutboxRepository {
  add(tenantId: TenantId, notices: readonly PlainNotice[]): void;
  /** The first tenant, by id, after this one that has notices. */
  nextTenant(after: TenantId | undefined): Promise<TenantId | undefined>;
  /** Removes and returns the oldest notices of a tenant, in order. */
  take(tenantId: TenantId, limit: number): Promise<PlainNotice[]>;
  /** The time of the change in the oldest notice; undefined if there is none. */
  oldestAt(): Promise<number | undefined>;
  /** Deletes up to `limit` rows of a tenant; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}
