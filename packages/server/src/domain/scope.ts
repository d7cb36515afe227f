import type { OrganizationId, TenantId } from '@convoke/contract';

/** Whose data a call may touch. The first argument of every tenant-bound repository call. */
export interface TenantScope {
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
}
