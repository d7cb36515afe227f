import { beforeAll, describe, expect, test } from 'vitest';
import { once } from '../../src/app/once.ts';
import { Refusal, refuse } from '../../src/app/refusal.ts';
import type { Json } from '../../src/domain/json.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';

describe.each(databaseKinds)('a key on %s (D-57)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  interface Asked {
    readonly key?: string | undefined;
    readonly place?: string;
    readonly body?: Json;
    readonly resourceId?: string;
    readonly chargeRate?: () => void;
  }
  const ask = ({ key, place = 'place', body = {}, resourceId = 'made', chargeRate }: Asked) =>
    world.store.transaction((tx) =>
      once(tx, {
        scope: world.scope,
        place,
        key,
        body,
        resourceId,
        now: world.clock.now(),
        chargeRate: chargeRate ?? (() => {}),
      }),
    );

  test('accepts one request as the first, and every other as a repetition', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask({ key: 'race', resourceId: `made-${index}` })),
    );
    const fresh = results.flatMap((result, index) => (result.fresh ? [`made-${index}`] : []));
    const known = results.flatMap((result) => (result.fresh ? [] : [result.resourceId]));
    expect(fresh).toHaveLength(1);
    expect(new Set(known)).toEqual(new Set(fresh));
  });

  test('charges the rate limit once, for the first request only', async () => {
    let asked = 0;
    const chargeRate = () => void (asked += 1);
    await ask({ key: 'admission', chargeRate });
    await ask({ key: 'admission', chargeRate });
    expect(asked).toBe(1);
    await ask({ chargeRate });
    await ask({ chargeRate });
    expect(asked).toBe(3);
  });

  test('of a request over the rate limit is free again', async () => {
    const chargeRate = () => refuse('rate_limited');
    await expect(ask({ key: 'refused', chargeRate })).rejects.toThrow(Refusal);
    expect(await ask({ key: 'refused', resourceId: 'later' })).toEqual({ fresh: true });
  });

  test('is for one body and one place', async () => {
    await ask({ key: 'word', body: { a: 1, b: [2] } });
    expect(await ask({ key: 'word', body: { b: [2], a: 1 } })).toEqual({
      fresh: false,
      resourceId: 'made',
    });
    await expect(ask({ key: 'word', body: { a: 1, b: [3] } })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await ask({ key: 'word', place: 'elsewhere', body: { c: 1 } })).toEqual({ fresh: true });
  });
});
