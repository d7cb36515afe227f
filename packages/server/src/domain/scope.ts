import type { OrganizationId, TenantId } from '@convoke/contract';

/** The tenant whose data a call may touch. First argument of every tenant-bound repository call. */
export interface TenantScope {
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
}
