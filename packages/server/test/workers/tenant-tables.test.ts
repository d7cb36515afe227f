import { describe, expect, test } from 'vitest';
import { offboardTenant } from '../../src/app/tenants.ts';
import { offboardTenants } from '../../src/workers/offboard-tenants.ts';
import { forgetDeliveries } from '../../src/workers/retention/forget-deliveries.ts';
import { forgetFires } from '../../src/workers/retention/forget-fires.ts';
import { forgetOldEvents } from '../../src/workers/retention/forget-old-events.ts';
import { forgetOldNotices } from '../../src/workers/retention/forget-old-notices.ts';
import { forgetUsage } from '../../src/workers/retention/forget-usage.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { countRows, fillTables, readSchema, tiedTables } from '../support/one-row-each.ts';
import { createRunFixture } from '../support/run-fixture.ts';
import { withDisk } from '../support/with-disk.ts';

const day = 24 * 3_600_000;

/**
 * Tables of no tenant: of an organization, of people, or of the service. A new one is added here, or it has
 * `tenant_id`.
 */
const ofNoTenant = [
  ['audit_checks', 'audit_heads', 'audit_rows', 'clients', 'credentials', 'identity_records'],
  [
    'invitations',
    'memberships',
    'organization_rules',
    'organizations',
    'rate_limits',
    'signing_keys',
    'tenants',
    'user_identities',
  ],
  ['user_passwords', 'users', 'withdrawals'],
].flat();

/** Kept as long as the tenant; of all others only a time is kept. The last two wait for a pass, which takes them. */
const lasting = [
  [
    'sessions',
    'session_states',
    'runs',
    'interactions',
    'files',
    'labels',
    'feedback',
    'idempotency_keys',
  ],
  ['feeds', 'schedules', 'webhooks', 'connections', 'budgets', 'outbox', 'blob_removals'],
].flat();

describe.each(databaseKinds)('the tables of a tenant on %s', (kind) => {
  async function setUp() {
    const world = await createRunFixture(kind);
    const sibling = await world.seed.tenant(world.scope.organizationId);
    const schema = await readSchema(world.database, kind);
    const ours = await fillTables(world, world.scope);
    const theirs = await fillTables(world, { ...world.scope, tenantId: sibling.id });
    const count = (filled: typeof ours) => countRows(world.database, schema, filled);
    const each = (n: (table: string) => number) =>
      Object.fromEntries([...schema.ofTenants, ...tiedTables].map((table) => [table, n(table)]));
    return { world, schema, ours, theirs, count, each };
  }

  test('are all emptied by an offboarding, and no row of another tenant is (D-67)', async () => {
    const { world, schema, ours, theirs, count, each } = await setUp();
    expect(schema.others).toEqual([...ofNoTenant, ...tiedTables].toSorted());
    expect(await count(ours)).toEqual(each(() => 1));
    const services = await withDisk(world);
    const { organizationId, tenantId: id } = world.scope;
    await offboardTenant(world, organizationId, { id, confirm: id, by });
    while (await offboardTenants(services));
    expect(await count(ours)).toEqual(each(() => 0));
    expect(await count(theirs)).toEqual(each(() => 1));
  });

  test('keep what ages for its time only', async () => {
    const { world, ours, count, each } = await setUp();
    const retention = async () => {
      for (const pass of [forgetDeliveries, forgetFires, forgetUsage]) while (await pass(world));
      while (await forgetOldNotices(world, 30 * day));
      const forget = forgetOldEvents(world, 30 * day);
      while (await forget());
    };
    await retention();
    expect(await count(ours)).toEqual(each(() => 1));
    world.clock.advance(1000 * day);
    await retention();
    expect(await count(ours)).toEqual(each((table) => (lasting.includes(table) ? 1 : 0)));
  });
});
