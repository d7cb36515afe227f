import type { OrganizationId, SessionId, TenantId } from '@convoke/contract';
import type { PageRequest } from '../page.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { Tenant } from '../../domain/tenant.ts';

export interface TenantRepository {
  insert(tenant: Tenant): Promise<void>;
  find(organizationId: OrganizationId, id: TenantId): Promise<Tenant | undefined>;
  lock(organizationId: OrganizationId, id: TenantId): Promise<Tenant | undefined>;
  /**
   * Whether the tenant is usable, and stays so until the transaction ends: an offboarding waits for it.
   * What makes a session asks this, so that none can appear behind the back of a cleanup.
   */
  isUsable(scope: TenantScope): Promise<boolean>;
  /** Writes `next` where the row still stands where `seen` stood; false when the world moved on. */
  save(next: Tenant, seen: Tenant): Promise<boolean>;
  list(organizationId: OrganizationId, page: PageRequest): Promise<Tenant[]>;
  /** Tenants a machine may reach: active and ready. */
  usable(organizationId: OrganizationId, limit: number): Promise<Tenant[]>;
  /** The same over several organizations, with their names. */
  reachable(
    organizationIds: readonly OrganizationId[],
    page: PageRequest,
  ): Promise<ReachableTenant[]>;
  /** Those that do not count as gone, for the quota. */
  countLive(organizationId: OrganizationId): Promise<number>;
  /** Those in `status`, longest untouched first: what a worker still has to bring to an end. */
  inStatus(status: 'provisioning' | 'offboarding', limit: number): Promise<Tenant[]>;
  /** Those of these that were offboarded to the end. */
  offboarded(ids: readonly TenantId[]): Promise<TenantId[]>;
  /** Sessions in which a run executes, waits or stands in line. */
  busySessions(
    tenantId: TenantId,
    limit: number,
  ): Promise<{ readonly id: SessionId; readonly isStopping: boolean }[]>;
  /** Any session of the tenant that is still stored; undefined when none is. */
  anySession(tenantId: TenantId): Promise<SessionId | undefined>;
  /** Deletes rows of one session, at most `limit`; true once nothing of it is left. */
  purgeSession(tenantId: TenantId, sessionId: SessionId, limit: number): Promise<boolean>;
  /** Deletes idempotency keys of the tenant, at most `limit`; true once none is left. */
  purgeKeys(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface ReachableTenant {
  readonly tenant: Tenant;
  readonly organizationName: string;
}
