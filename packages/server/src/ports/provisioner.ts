import type { TenantId } from '@convoke/contract';

/** What a tenant's sessions need on the machines that execute them. Every call may be repeated. */
export interface Provisioner {
  /** Makes the place for the tenant's session folders and proves that it can be written. */
  openWorkspaces(tenantId: TenantId): Promise<void>;
  /** The tenants that have such a place on this machine. */
  placedTenants(): Promise<TenantId[]>;
  /** Removes that place with whatever is still in it. */
  removeWorkspaces(tenantId: TenantId): Promise<void>;
}
