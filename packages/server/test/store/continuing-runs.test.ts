import { describe, expect, test } from 'vitest';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { createRunFixture, delta } from '../support/run-fixture.ts';

describe.each(databaseKinds)('an interrupted run on %s (D-93)', (kind) => {
  test('is not found by workers before the time from which on it may continue', async () => {
    const world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { items: [delta('lost')] });
    world.clock.advance(15_001);
    await reconcileRuns(world, {
      owner: 'me',
      isExecuting: () => false,
      canTrustExpiry: () => true,
    });
    const run = await world.read(leg.run);
    expect(run).toMatchObject({ status: 'running', lease: null });
    const claimable = async (now: number) => {
      const bounds = { now, machine: '', limit: 64, perTenant: 3, tenants: 64, after: undefined };
      return (await world.store.read.runs.claimable(bounds)).runs.map(({ id }) => id);
    };
    const now = world.clock.now();
    expect(await claimable(now - 1)).toEqual([]);
    expect(await claimable(now)).toEqual([run.id]);
  });
});
