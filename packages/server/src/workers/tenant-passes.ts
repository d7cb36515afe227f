import type { Pass } from './driver.ts';
import { type OffboardServices, offboardTenants } from './offboard-tenants.ts';
import { type ProvisionServices, provisionTenants } from './provision-tenants.ts';

/** What the driver runs for tenants, by name. */
export function tenantPasses(services: ProvisionServices & OffboardServices): Record<string, Pass> {
  return {
    'provisioning tenants': () => provisionTenants(services),
    'offboarding tenants': () => offboardTenants(services),
  };
}
