import { type OrganizationId, type TenantId, idPrefixes, tenantId } from '@convoke/contract';
import type { Actor } from '../domain/audit.ts';
import {
  type Tenant,
  mayAddTenant,
  offboardTenant as offboarding,
  openTenant,
  retryTenant as retried,
} from '../domain/tenant.ts';
import type { PageRequest } from '../ports/page.ts';
import { recordAudit } from './audit.ts';
import { once } from './once.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';
import type { Created } from './sessions.ts';

export interface CreateTenant {
  readonly displayName: string;
  readonly mode: string;
  readonly idempotencyKey: string;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

/** D-67. Locks the organization's row while its tenants are counted. A worker provisions the tenant. */
export async function createTenant(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'settings' | 'fanout'>,
  organizationId: OrganizationId,
  request: CreateTenant,
): Promise<Created<Tenant>> {
  const { store, clock, ids, settings, fanout } = services;
  return store.transaction(async (tx) => {
    const now = clock.now();
    const { displayName, mode } = request;
    const id = tenantId(ids.next(idPrefixes.tenant));
    const first = await once(tx, {
      scope: { organizationId },
      place: 'create_tenant',
      key: request.idempotencyKey,
      body: { display_name: displayName, mode },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      const known = await tx.tenants.find(organizationId, tenantId(first.resourceId));
      return { resource: known ?? refuse('not_found'), replayed: true };
    }
    await tx.organizations.lock(organizationId);
    const liveTenants = await tx.tenants.countLive(organizationId);
    const policy = { modes: settings.tenantModes, max: settings.tenantsPerOrganizationMax };
    orRefuse(mayAddTenant({ mode, liveTenants }, policy));
    const tenant = openTenant({ id, organizationId, displayName, mode }, now);
    await tx.tenants.insert(tenant);
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by: request.by,
      action: 'tenant.create',
      object: id,
      details: { display_name: displayName, mode },
    });
    tx.onCommit(() => fanout.wake('tenants'));
    return { resource: tenant, replayed: false };
  });
}

/** How many clients can access a tenant of the organization without being bound to it. */
export async function countUnboundClients(
  { store }: Pick<Services, 'store'>,
  organizationId: OrganizationId,
): Promise<number> {
  return store.read.clients.countUnbound(organizationId);
}

export async function listTenants(
  { store }: Pick<Services, 'store'>,
  organizationId: OrganizationId,
  page: PageRequest,
): Promise<Tenant[]> {
  return store.read.tenants.list(organizationId, page);
}

export async function getTenant(
  { store }: Pick<Services, 'store'>,
  organizationId: OrganizationId,
  id: TenantId,
): Promise<Tenant> {
  return (await store.read.tenants.find(organizationId, id)) ?? refuse('not_found');
}

export async function retryTenant(
  { store, clock, fanout }: Pick<Services, 'store' | 'clock' | 'fanout'>,
  organizationId: OrganizationId,
  { id, by }: { readonly id: TenantId; readonly by: Actor },
): Promise<Tenant> {
  return store.transaction(async (tx) => {
    const seen = (await tx.tenants.lock(organizationId, id)) ?? refuse('not_found');
    const now = clock.now();
    const next = orRefuse(retried(seen, now));
    if (!(await tx.tenants.save(next, seen))) return refuse('tenant_not_retryable');
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: 'tenant.retry',
      object: id,
      details: { step: next.step },
    });
    tx.onCommit(() => fanout.wake('tenants'));
    return next;
  });
}

export interface OffboardTenant {
  readonly id: TenantId;
  /** Confirmation of the caller: must be the exact id. */
  readonly confirm: string;
  readonly by: Actor;
}

/** Access of machines ends with this commit: from then on the gate finds no usable tenant (D-51). */
export async function offboardTenant(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  { id, confirm, by }: OffboardTenant,
): Promise<Tenant> {
  if (confirm !== id) return refuse('confirmation_mismatch');
  return store.transaction(async (tx) => {
    const seen = (await tx.tenants.lock(organizationId, id)) ?? refuse('not_found');
    const now = clock.now();
    const next = offboarding(seen, now);
    if (next === seen) return seen;
    if (!(await tx.tenants.save(next, seen))) {
      throw new Error(`tenant ${id} changed while its row was locked`);
    }
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: 'tenant.offboard',
      object: id,
      details: { display_name: seen.displayName },
    });
    return next;
  });
}
