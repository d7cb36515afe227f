// D-93: servers of the release before share the database during an upgrade. These are their statements; the whole server
// is in faults/old-release.fault.test.ts.
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/store/sql.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, delta } from '../support/run-fixture.ts';

describe.each(databaseKinds)('a server of the release before on %s (D-93)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
  });

  test('finds no run that waits to be continued: neither to claim nor to end it', async () => {
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { items: [delta('lost')] });
    world.clock.advance(15_001);
    await reconcileRuns(world, {
      owner: 'me',
      isExecuting: () => false,
      canTrustExpiry: () => true,
      isAlone: true,
    });
    const run = await world.read(leg.run);
    expect(run).toMatchObject({ status: 'running', lease: null });
    const ready = await world.database.all(sql`
      select id from runs where ready_at is not null and tenant_id = (
        select min(tenant_id) from runs where ready_at is not null and tenant_id > ${''}
      ) order by ready_at, id limit ${64}`);
    const now = world.clock.now() + 3_600_000;
    const expired = await world.database.all(sql`
      select id from runs where lease_owner is not null and lease_expires_at < ${now}
      order by lease_expires_at limit ${100}`);
    expect([ready, expired]).toEqual([[], []]);
    // This release does.
    const bounds = { now, machine: '', limit: 64, perTenant: 3, tenants: 64, after: undefined };
    const { runs } = await world.store.read.runs.claimable(bounds);
    expect(runs.map(({ id }) => id)).toEqual([run.id]);
  });
});
