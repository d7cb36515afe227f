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
 * Does the next step of every tenant that is being provisioned (D-67). A step may be repeated after a crash; its
 * result is recorded only if the tenant is still at that step, so an offboarding that started in between wins.
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
      // The database is unavailable: not a fault of this tenant, and the next pass retries.
      if (error instanceof StorageUnavailable) throw error;
      log.error('tenant could not be provisioned', error, { tenant_id: tenant.id, step });
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
    const prefix = `${id}/provisioning-`;
    const probe = await blobs.stage(noBytes(), { maxBytes: 0 });
    try {
      await probe.publish(prefix + probe.sha256);
    } finally {
      await probe.discard();
      await blobs.removeAll(prefix);
    }
  },
  workspaces: ({ provisioner }, { id }) => provisioner.makeFolder(id),
};

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const problems: { readonly [Step in ProvisioningStep]: string } = {
  storage: 'The file store cannot be written',
  workspaces: 'The folder for sessions cannot be written',
};

/** A text for the person who manages the tenant; paths and system messages go to the log only. */
function reasonOf(step: ProvisioningStep, error: unknown): string {
  const code = errorCode(error);
  return `${problems[step]}${code === undefined ? '' : ` (${code})`}. Ask the operator to check the server, then retry.`;
}
