import type { Services } from '../app/services.ts';
import {
  type ProvisioningStep,
  type Tenant,
  provisioned,
  provisioningFailed,
  provisioningStep,
} from '../domain/tenant.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Provisioner } from '../ports/provisioner.ts';
import { errorCode } from '../runtime/error-code.ts';

export type ProvisionServices = Pick<Services, 'store' | 'clock' | 'log' | 'blobs'> & {
  readonly provisioner: Provisioner;
};

const tenantsPerPass = 16;

/**
 * Takes the next step of every tenant that is being provisioned (D-67). A step may be taken again after a
 * crash; what it did is recorded only where the tenant still stands at it, so an offboarding that came in
 * between wins. True when there may be more to do.
 */
export async function provisionTenants(services: ProvisionServices): Promise<boolean> {
  const waiting = await services.store.read.tenants.inStatus('provisioning', tenantsPerPass);
  for (const tenant of waiting) await advance(services, tenant);
  return waiting.length > 0;
}

async function advance(services: ProvisionServices, tenant: Tenant): Promise<void> {
  const { store, clock, log } = services;
  const step = provisioningStep(tenant);
  const next = await steps[step](services, tenant).then(
    () => provisioned(tenant, step, clock.now()),
    (error: unknown) => {
      // The database is away: that is no property of this tenant, and the next pass tries again.
      if (error instanceof StorageUnavailable) throw error;
      log.error('a tenant could not be provisioned', error, { tenant_id: tenant.id, step });
      return provisioningFailed(tenant, reasonOf(step, error), clock.now());
    },
  );
  await store.transaction((tx) => tx.tenants.save(next, tenant));
}

const steps: {
  readonly [Step in ProvisioningStep]: (
    services: ProvisionServices,
    tenant: Tenant,
  ) => Promise<void>;
} = {
  async storage({ blobs }, { id }) {
    const place = `${id}/provisioning-`;
    const probe = await blobs.stage(noBytes(), { maxBytes: 0 });
    try {
      await probe.publish(place + probe.sha256);
    } finally {
      await probe.discard();
      await blobs.removeAll(place);
    }
  },
  workspaces: ({ provisioner }, { id }) => provisioner.makeFolder(id),
};

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const complaints: { readonly [Step in ProvisioningStep]: string } = {
  storage: 'The file store cannot be written',
  workspaces: 'The workspace folder cannot be written',
};

/** For a person to act on; paths and messages of the machine go to the log only. */
function reasonOf(step: ProvisioningStep, error: unknown): string {
  const code = errorCode(error);
  return `${complaints[step]}${code === undefined ? '' : ` (${code})`}. Ask the operator to check the server, then retry.`;
}
