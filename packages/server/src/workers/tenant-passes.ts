import { type BackgroundOptions, everyMinute } from './background.ts';
import { forgetTenants } from './forget-tenants.ts';
import { type OffboardServices, offboardTenants } from './offboard-tenants.ts';
import { type ProvisionServices, provisionTenants } from './provision-tenants.ts';

/** What the driver runs for tenants, by name. */
export function tenantPasses(
  services: ProvisionServices & OffboardServices,
): BackgroundOptions['passes'] {
  return {
    'provisioning tenants': () => provisionTenants(services),
    'offboarding tenants': () => offboardTenants(services),
    'forgetting tenants': everyMinute(() => forgetTenants(services)),
  };
}
