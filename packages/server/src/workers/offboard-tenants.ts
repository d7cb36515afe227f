import type { TenantId } from '@convoke/contract';
import { tenantPrefix } from '../app/files/blob-keys.ts';
import { Refusal } from '../app/refusal.ts';
import type { Services } from '../app/services.ts';
import { stopSession } from '../app/sessions.ts';
import {
  type OffboardingStep,
  type Tenant,
  offboarded,
  offboardingStep,
} from '../domain/tenant.ts';
import type { Provisioner } from '../ports/provisioner.ts';

export type OffboardServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'log'
  | 'metrics'
  | 'traces'
  | 'blobs'
  | 'sessionFolders'
  | 'fanout'
  | 'settings'
> & { readonly provisioner: Provisioner };

const tenantsPerPass = 4;
const sessionsPerPass = 50;
/** Rows deleted in one transaction: few enough that other writers hardly wait. */
const rowsPerTransaction = 500;
/** Legs end their cancel, or recovery does, well within this time; after it the offboarding continues. */
const cancelGraceMs = 60_000;

/** `done`: continue with the next step. `more`: work remains. `waiting`: other workers must finish first. */
type Progress = 'done' | 'more' | 'waiting';

/**
 * Does a bounded part of the current step of every tenant that is being offboarded (D-67). Each part only deletes,
 * so after a crash it is simply repeated.
 */
export async function offboardTenants(services: OffboardServices): Promise<boolean> {
  const leaving = await services.store.read.tenants.inStatus('offboarding', tenantsPerPass);
  let hasMore = false;
  for (const tenant of leaving) hasMore = (await advance(services, tenant)) || hasMore;
  return hasMore;
}

async function advance(services: OffboardServices, tenant: Tenant): Promise<boolean> {
  const step = offboardingStep(tenant);
  const progress = await steps[step](services, tenant);
  if (progress !== 'done') return progress === 'more';
  const { store, clock, log } = services;
  const next = offboarded(tenant, step, clock.now());
  await store.transaction(async (tx) => {
    await tx.tenants.lock(tenant.organizationId, tenant.id);
    // A session that was being created at the offboarding may have appeared after the rows were deleted.
    const isLate = next.status === 'offboarded' && (await tx.tenants.anySession(tenant.id));
    await tx.tenants.save(isLate ? { ...tenant, step: 'rows' } : next, tenant);
  });
  if (next.status === 'offboarded') log.info('tenant offboarded', { tenant_id: tenant.id });
  return true;
}

const steps: {
  readonly [Step in OffboardingStep]: (
    services: OffboardServices,
    tenant: Tenant,
  ) => Promise<Progress>;
} = {
  async cancel(services, tenant) {
    const { store, clock } = services;
    const running = await store.read.tenants.busySessions(tenant.id, sessionsPerPass);
    const scope = { organizationId: tenant.organizationId, tenantId: tenant.id };
    for (const { id, isStopping } of running) {
      if (isStopping) continue;
      const request = { id, mode: 'terminate', reason: 'tenant_offboarded' } as const;
      await stopSession(services, scope, request).catch(unlessRefused);
    }
    if (running.length === 0) return 'done';
    if (running.some(({ isStopping }) => !isStopping)) return 'more';
    return clock.now() - tenant.updatedAt < cancelGraceMs ? 'waiting' : 'done';
  },

  async rows(services, { id }) {
    for (let count = 0; count < sessionsPerPass; count += 1) {
      if (!(await removeOneSession(services, id))) return 'done';
    }
    return 'more';
  },

  async remains({ store, blobs, provisioner }, { id }) {
    await blobs.removeAll(tenantPrefix(id));
    await provisioner.removeFolder(id);
    await store.transaction((tx) => tx.budgets.purge({ tenantId: id }));
    const isEmpty = await store.transaction(
      async (tx) =>
        (await tx.tenants.purgeKeys(id, rowsPerTransaction)) &&
        (await tx.blobRemovals.purge(id, rowsPerTransaction)) &&
        (await tx.usageTotals.purge(id, rowsPerTransaction)) &&
        (await tx.outbox.purge(id, rowsPerTransaction)) &&
        (await tx.feeds.purge(id, rowsPerTransaction)) &&
        (await tx.schedules.purge(id, rowsPerTransaction)) &&
        (await tx.deliveries.purge(id, rowsPerTransaction)) &&
        (await tx.connections.purge(id, rowsPerTransaction)),
    );
    return isEmpty ? 'done' : 'more';
  },
};

/** The session ended on its own before it could be stopped. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

/** Returns false when no session is left. Removes the folder before the row: only the row says where the folder is. */
async function removeOneSession(
  { store, sessionFolders }: OffboardServices,
  tenantId: TenantId,
): Promise<boolean> {
  const sessionId = await store.read.tenants.anySession(tenantId);
  if (sessionId === undefined) return false;
  await sessionFolders.remove(tenantId, sessionId);
  await store.transaction((tx) => tx.tenants.purgeSession(tenantId, sessionId, rowsPerTransaction));
  return true;
}
