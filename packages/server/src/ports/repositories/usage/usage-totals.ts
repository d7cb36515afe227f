import type { OrganizationId, TenantId } from '@convoke/contract';
import type {
  Countable,
  LabelTotal,
  UsageAmounts,
  UsageGrain,
  UsageTotal,
} from '../../../domain/usage/usage-totals.ts';

export interface UsageTotalRepository {
  /**
   * Takes reports and ended runs that the totals do not include, oldest first, and marks them as included. Skips those
   * that another server is taking. Costs in another currency are left out.
   */
  take(limit: number, currency: string): Promise<Countable[]>;
  add(totals: readonly UsageTotal[]): void;
  addLabels(totals: readonly LabelTotal[]): void;
  read(request: ReadTotals): Promise<UsageRow[]>;
  /** The days of each value of a label. */
  readLabel(request: ReadLabelTotals): Promise<UsageRow[]>;
  /** Deletes rows of a grain from before a time. */
  forget(grain: UsageGrain, before: number, limit: number): Promise<number>;
  forgetLabels(before: number, limit: number): Promise<number>;
  /** Deletes up to `limit` rows of a tenant in each table; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface ReadTotals {
  /** A tenant, or all tenants of an organization. */
  readonly of: { readonly tenantId: TenantId } | { readonly organizationId: OrganizationId };
  readonly grain: UsageGrain;
  readonly from: number;
  readonly to: number;
  /** Whether each start has rows of its own. */
  readonly hasBuckets: boolean;
  readonly groupBy: UsageGroup | undefined;
  readonly limit: number;
  /** The last row before: its start, and its group. */
  readonly after: { readonly startsAt: number; readonly group: string } | undefined;
}

export interface ReadLabelTotals
  extends Pick<ReadTotals, 'of' | 'from' | 'to' | 'limit' | 'after'> {
  readonly key: string;
}

export type UsageGroup = 'agent' | 'model' | 'client' | 'session' | 'tenant';

export interface UsageRow extends UsageAmounts {
  /** 0 without buckets. */
  readonly startsAt: number;
  /** Empty without groups. */
  readonly group: string;
}
