import { type OrganizationId, type TenantId, errors, tenantId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import {
  createTenant,
  getTenant,
  listTenants,
  offboardTenant as offboard,
  retryTenant as retry,
} from '../../src/app/tenants.ts';
import { listWorkspaces } from '../../src/app/workspaces.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';
import { settings } from '../support/settings.ts';

const fanout = createLocalFanout();

// Everything here is done by the same person.
const retryTenant = (world: IdentityFixture, home: OrganizationId, id: TenantId) =>
  retry({ ...world, fanout }, home, { id, by });
const offboardTenant = (
  world: IdentityFixture,
  home: OrganizationId,
  at: { readonly id: TenantId; readonly confirm: string },
) => offboard(world, home, { ...at, by });

/** Every tenant of these organizations. */
const all = (...organizationIds: OrganizationId[]) => ({ organizationIds, tenantIds: null });

describe.each(databaseKinds)('tenants on %s (D-67)', (kind) => {
  let world: IdentityFixture;
  let services: IdentityFixture & { settings: typeof settings; fanout: typeof fanout };
  let home: OrganizationId;
  let keys = 0;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
    services = { ...world, fanout, settings: { ...settings, tenantsPerOrganizationMax: 3 } };
  });
  beforeEach(async () => {
    home = await world.seed.organization();
  });

  const create = (change: { idempotencyKey?: string; displayName?: string; mode?: string } = {}) =>
    createTenant(services, home, {
      displayName: 'Acme',
      mode: 'saas',
      idempotencyKey: `key-${(keys += 1)}`,
      by,
      chargeRate: () => {},
      ...change,
    });
  const code = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'accepted',
      (error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        return `${errors[error.code].status} ${error.code}`;
      },
    );
  const set = (tenant: Tenant, change: Partial<Tenant>) =>
    world.store.transaction((tx) => tx.tenants.save({ ...tenant, ...change }, tenant));

  test('a new tenant is being provisioned, and not usable', async () => {
    const { resource, replayed } = await create();
    expect(replayed).toBe(false);
    expect(resource).toMatchObject({
      organizationId: home,
      displayName: 'Acme',
      mode: 'saas',
      status: 'provisioning',
      attachmentState: 'pending',
    });
    expect(await getTenant(world, home, resource.id)).toEqual(resource);
    expect(await listWorkspaces(world, all(home), { limit: 9, order: 'asc' })).toEqual([]);
  });

  test('the same key and body give the same tenant, another body a conflict', async () => {
    const idempotencyKey = 'tenant-key';
    const attempts = await Promise.all(
      Array.from({ length: 20 }, () => create({ idempotencyKey })),
    );
    expect(new Set(attempts.map(({ resource }) => resource.id)).size).toBe(1);
    expect(attempts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await code(create({ idempotencyKey, displayName: 'Other' }))).toBe(
      '409 idempotency_conflict',
    );
  });

  test('no concurrency passes the quota, and one that leaves makes room', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => code(create())));
    expect(answers.toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => '409 tenant_limit_reached'),
      ...Array.from({ length: 3 }, () => 'accepted'),
    ]);
    const [tenant] = await listTenants(world, home, { limit: 1, order: 'desc' });
    const id = tenant?.id ?? tenantId('');
    await offboardTenant(world, home, { id, confirm: id });
    expect(await code(create())).toBe('accepted');
  });

  test('a mode the deployment does not support is refused, and its key stays free', async () => {
    const idempotencyKey = 'mode-key';
    expect(await code(create({ idempotencyKey, mode: 'dedicated' }))).toBe('400 unsupported_mode');
    expect(await code(create({ idempotencyKey }))).toBe('accepted');
  });

  test('only a failed tenant can be retried; it continues at the step that failed', async () => {
    const { resource } = await create();
    expect(await code(retryTenant(world, home, resource.id))).toBe('409 tenant_not_retryable');
    await set(resource, {
      status: 'failed',
      attachmentState: 'failed',
      statusReason: 'why',
      step: 'workspaces',
    });
    expect(await retryTenant(world, home, resource.id)).toMatchObject({
      status: 'provisioning',
      attachmentState: 'pending',
      statusReason: null,
      step: 'workspaces',
    });
    expect(await code(retryTenant(world, home, resource.id))).toBe('409 tenant_not_retryable');
  });

  test('offboarding needs the exact id, ends reach at once, and cannot be undone', async () => {
    const tenant = await world.seed.tenant(home);
    const { id } = tenant;
    const confirm = (text: string) => code(offboardTenant(world, home, { id, confirm: text }));
    expect(await confirm('')).toBe('400 confirmation_mismatch');
    expect(await confirm(` ${id}`)).toBe('400 confirmation_mismatch');
    expect(await getTenant(world, home, id)).toEqual(tenant);
    expect(await confirm(id)).toBe('accepted');
    const leaving = await getTenant(world, home, id);
    expect(leaving).toMatchObject({ status: 'offboarding', attachmentState: 'detached' });
    expect(await world.store.read.tenants.usable(home, 9)).toEqual([]);
    expect(await confirm(id)).toBe('accepted');
    expect(await getTenant(world, home, id)).toEqual(leaving);
    expect(await code(retryTenant(world, home, id))).toBe('409 tenant_not_retryable');
  });

  test('another organization’s tenant is as absent as one that never was', async () => {
    const tenant = await world.seed.tenant(home);
    const away = await world.seed.organization();
    for (const id of [tenant.id, tenantId('ten_unknown')]) {
      expect(await code(getTenant(world, away, id))).toBe('404 not_found');
      expect(await code(retryTenant(world, away, id))).toBe('404 not_found');
      expect(await code(offboardTenant(world, away, { id, confirm: id }))).toBe('404 not_found');
    }
    expect(await getTenant(world, home, tenant.id)).toEqual(tenant);
  });

  test('workspaces are the usable tenants of one’s organizations, with their names (D-56)', async () => {
    const away = await world.seed.organization();
    const [first, second] = [await world.seed.tenant(home), await world.seed.tenant(away)];
    await world.seed.tenant(home, 'failed');
    await world.seed.tenant(away, 'offboarded');
    const page = { limit: 9, order: 'asc' } as const;
    expect(await listWorkspaces(world, all(home, away), page)).toEqual([
      { tenant: first, organizationName: `Organization ${home}` },
      { tenant: second, organizationName: `Organization ${away}` },
    ]);
    expect(await listWorkspaces(world, all(away), page)).toHaveLength(1);
    expect(await listWorkspaces(world, all(), page)).toEqual([]);
    const rest = { limit: 9, order: 'asc', after: first.id } as const;
    expect(await listWorkspaces(world, all(home, away), rest)).toHaveLength(1);
    const bound = { organizationIds: [home, away], tenantIds: [second.id] };
    expect(await listWorkspaces(world, bound, page)).toMatchObject([{ tenant: second }]);
  });

  test('an offboarding waits for a transaction that inserts a session, and none is inserted after it', async () => {
    const tenant = await world.seed.tenant(home);
    const scope = { organizationId: home, tenantId: tenant.id };
    const order: string[] = [];
    await world.store.transaction(async (tx) => {
      expect(await tx.tenants.isUsable(scope)).toBe(true);
      const leaving = offboardTenant(world, home, { id: tenant.id, confirm: tenant.id });
      void leaving.then(() => order.push('offboarded'));
      // Whatever the other transaction could do without waiting, it has done after these reads.
      for (let round = 0; round < 20; round += 1) await tx.tenants.find(home, tenant.id);
      expect((await tx.tenants.find(home, tenant.id))?.status).toBe('active');
      order.push('session made');
    });
    await expect.poll(() => order).toEqual(['session made', 'offboarded']);
    await world.store.transaction(async (tx) => {
      expect(await tx.tenants.isUsable(scope)).toBe(false);
    });
  });
});
