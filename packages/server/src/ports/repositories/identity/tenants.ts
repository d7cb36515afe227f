import type { OrganizationId, SessionId, TenantId } from '@convoke/contract';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Tenant } from '../../../domain/tenant.ts';
import type { PageRequest } from '../../page.ts';

export interface TenantRepository {
  insert(tenant: Tenant): Promise<void>;
  find(organizationId: OrganizationId, id: TenantId): Promise<Tenant | undefined>;
  lock(organizationId: OrganizationId, id: TenantId): Promise<Tenant | undefined>;
  /**
   * True when the tenant is usable. It stays so until the transaction ends: an offboarding waits. Called
   * before a session is inserted, so that none can appear during an offboarding.
   */
  isUsable(scope: TenantScope): Promise<boolean>;
  /** Writes `next` if the row still has the status and step of `seen`; false otherwise. */
  save(next: Tenant, seen: Tenant): Promise<boolean>;
  list(organizationId: OrganizationId, page: PageRequest): Promise<Tenant[]>;
  /** Tenants that machines may reach: active and ready. */
  usable(organizationId: OrganizationId, limit: number): Promise<Tenant[]>;
  /** Usable tenants of several organizations, with the organizations' names. */
  reachable(reach: TenantReach, page: PageRequest): Promise<ReachableTenant[]>;
  /** The tenants of these that belong to the organization and are not being offboarded. */
  bindable(organizationId: OrganizationId, ids: readonly TenantId[]): Promise<TenantId[]>;
  /** Number of tenants that count towards the quota. */
  countLive(organizationId: OrganizationId): Promise<number>;
  /** Tenants in `status` that a worker has to advance, least recently updated first. */
  inStatus(status: 'provisioning' | 'offboarding', limit: number): Promise<Tenant[]>;
  /** The tenants of these that are `offboarded`. */
  offboarded(ids: readonly TenantId[]): Promise<TenantId[]>;
  /** Sessions in which a run executes, waits or is queued. */
  busySessions(
    tenantId: TenantId,
    limit: number,
  ): Promise<{ readonly id: SessionId; readonly isStopping: boolean }[]>;
  /** Any stored session of the tenant; undefined when there is none. */
  anySession(tenantId: TenantId): Promise<SessionId | undefined>;
  /** Deletes at most `limit` rows of one session; true once none is left. */
  purgeSession(tenantId: TenantId, sessionId: SessionId, limit: number): Promise<boolean>;
  /** Deletes at most `limit` idempotency keys of the tenant; true once none is left. */
  purgeKeys(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface TenantReach {
  readonly organizationIds: readonly OrganizationId[];
  /** Only these; null for all tenants of the organizations. */
  readonly tenantIds: readonly TenantId[] | null;
}

export interface ReachableTenant {
  readonly tenant: Tenant;
  readonly organizationName: string;
}
