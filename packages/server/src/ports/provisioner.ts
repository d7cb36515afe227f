import type { TenantId } from '@convoke/contract';

/** Manages the folder of a tenant on the machines that execute its runs. Every call is idempotent. */
export interface Provisioner {
  /** Makes the folder that holds the tenant's session folders, and checks that it is writable. */
  makeFolder(tenantId: TenantId): Promise<void>;
  /** Tenants that have such a folder on this machine. */
  tenantsWithFolder(): Promise<TenantId[]>;
  /** Removes that folder with everything in it. */
  removeFolder(tenantId: TenantId): Promise<void>;
}
