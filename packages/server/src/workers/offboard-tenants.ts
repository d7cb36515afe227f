import type { TenantId } from '@convoke/contract';
import { tenantPrefix } from '../app/blob-keys.ts';
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
  'store' | 'clock' | 'log' | 'metrics' | 'blobs' | 'workspaces' | 'fanout'
> & { readonly provisioner: Provisioner };

const tenantsPerPass = 4;
const sessionsPerPass = 50;
/** Rows that one transaction deletes: enough to be quick, few enough that others hardly wait. */
const rowsPerTransaction = 500;
/** Cancelling ends by itself, or by recovery, well within this; after it nobody is waited for. */
const cancelGraceMs = 60_000;

/** `done`: the next step may come. `more`: work is left. `waiting`: others must finish first. */
type Progress = 'done' | 'more' | 'waiting';

/**
 * Takes a bounded part of the current step of every tenant that is being offboarded (D-67). Each part is
 * a deletion of what is there, so a crash at any moment costs nothing but the repetition. True when there
 * may be more to do at once.
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
    // A session that was being made when the tenant left may have come after the rows were deleted.
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
    const isEmpty = await store.transaction((tx) => tx.tenants.purgeKeys(id, rowsPerTransaction));
    return isEmpty ? 'done' : 'more';
  },
};

/** The session ended by itself meanwhile. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

/** False when there was none. The folder goes first: with the row would go the knowledge of it. */
async function removeOneSession(
  { store, workspaces }: OffboardServices,
  tenantId: TenantId,
): Promise<boolean> {
  const sessionId = await store.read.tenants.anySession(tenantId);
  if (sessionId === undefined) return false;
  await workspaces.remove(tenantId, sessionId);
  await store.transaction((tx) => tx.tenants.purgeSession(tenantId, sessionId, rowsPerTransaction));
  return true;
}
