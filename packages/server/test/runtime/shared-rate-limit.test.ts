import { beforeAll, describe, expect, test } from 'vitest';
import { createRateLimit, managementRate } from '../../src/runtime/rate-limit.ts';
import { createSharedRateLimit } from '../../src/runtime/shared-rate-limit.ts';
import { createStore } from '../../src/store/store.ts';
import { forgetRateLimits } from '../../src/workers/retention/forget-rate-limits.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { type IdentityFixture, createIdentityFixture } from '../support/identity-fixture.ts';

describe.each(databaseKinds)('a rate limit that servers share on %s (spec §8)', (kind) => {
  let world: IdentityFixture;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });

  test('allows the same as one in memory', async () => {
    for (const rate of [managementRate(60), { perMinute: 7, burst: 3 }]) {
      const shared = createSharedRateLimit(world, rate);
      const alone = createRateLimit(world.clock, rate);
      const key = `key ${rate.perMinute}`;
      for (const waitMs of [0, 0, 0, 0, 4_000, 4_600, 0, 100_000, 0, 0, 0, 0, 9_000]) {
        world.clock.advance(waitMs);
        expect(await shared.take(key)).toEqual(alone.take(key));
      }
    }
  });

  test('counts what all servers allow, however many ask at once', async () => {
    const other = createStore(await openTestDatabase(kind, { location: world.location }));
    const rate = { perMinute: 60, burst: 10 };
    const limits = [world, { store: other, clock: world.clock }].map((services) =>
      createSharedRateLimit(services, rate),
    );
    const asked = Array.from({ length: 20 }, () => limits.map((limit) => limit.take('one'))).flat();
    const answers = await Promise.all(asked);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(10);
    expect(new Set(answers.filter(({ ok }) => !ok).map((one) => one.retryAfterSeconds))).toEqual(
      new Set([1]),
    );
    world.clock.advance(1_000);
    for (const limit of limits) await limit.take('another');
    expect([(await limits[0]?.take('one'))?.ok, (await limits[1]?.take('one'))?.ok]).toEqual([
      true,
      false,
    ]);
  });

  test('forgets only buckets that are full again', async () => {
    const limit = createSharedRateLimit(world, { perMinute: 1, burst: 1 });
    await limit.take('forgotten');
    world.clock.advance(59_999);
    await forgetRateLimits(world);
    expect((await limit.take('forgotten')).ok).toBe(false);
    world.clock.advance(1);
    expect(await forgetRateLimits(world)).toBe(false);
    expect((await limit.take('forgotten')).ok).toBe(true);
  });
});
