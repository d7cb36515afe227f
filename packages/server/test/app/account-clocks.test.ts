// The refresh of an account on machines whose clocks are set, or that are suspended, while it is under way (D-949).
import { beforeAll, describe, expect, test } from 'vitest';
import { type AccountServices, currentAccount } from '../../src/app/connections/current-account.ts';
import { answerMs, claimMs } from '../../src/domain/connections/refresh.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunFixture, createRunFixture, hour } from '../support/run-fixture.ts';
import { Death, mortal, setUp } from './refresh-world.ts';

/** Who waits for a claim looks that often. */
const lookAgainMs = 1000;

describe.each(databaseKinds)('on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  /** The same services on a machine whose clock is set while they run. Timers pass as before. */
  function clockSet(services: AccountServices) {
    const set = { byMs: 0 };
    const { clock } = world;
    const now = () => clock.now() + set.byMs;
    const after = (ms: number, callback: () => void) => clock.after(ms, callback);
    return { set, services: { ...services, clock: { now, after } } };
  }

  test('a claim whose server is gone ends in time though the clock was set back (D-949)', async () => {
    const { provider, services, account, row, notices } = await setUp(world);
    await expect(account(mortal(services, 'after the claim'))).rejects.toThrow(Death);
    const other = clockSet(services);
    other.set.byMs = -hour;
    const before = world.clock.timers;
    const waits = () => eventually(() => world.clock.timers === before + 2);
    const found = account(other.services);
    await waits();
    world.clock.advance(claimMs - 1);
    await waits();
    expect((await row()).status).toBe('connected');
    world.clock.advance(lookAgainMs);
    expect((await found).kind).toBe('expired');
    expect(await row()).toMatchObject({ statusReason: 'refresh_lost' });
    expect([provider.sent, await notices(), world.clock.timers]).toEqual([[], 1, before]);
  });

  test.each([hour, -hour])(
    'the answer to a refresh counts though the clock was set by %i ms before it came (D-949)',
    async (byMs) => {
      const { provider, services, account, row } = await setUp(world);
      const own = clockSet(services);
      provider.during = async () => {
        own.set.byMs = byMs;
      };
      expect(await account(own.services)).toMatchObject({ secret: { value: 'access-token-1' } });
      expect(await row()).toMatchObject({ status: 'connected', refreshingUntil: null });
    },
  );

  test('an endpoint that was not available is asked again though the clock was set back (D-949)', async () => {
    const { provider, services, wanted, account } = await setUp(world);
    provider.answer = { kind: 'unavailable' };
    await account();
    provider.answer = 'usual';
    const own = clockSet(services);
    own.set.byMs = -hour;
    const refused = await currentAccount(own.services, { ...wanted, refusedVersion: 1 });
    expect(refused).toMatchObject({ secret: { value: 'access-token-2' } });
  });

  test('a server that was suspended behind its claim sends nothing, and releases it', async () => {
    const { provider, services, account, row } = await setUp(world);
    const { store } = services;
    const transaction: typeof store.transaction = async (work) => {
      const result = await store.transaction(work);
      if ((await row()).refreshingUntil !== null) world.clock.advance(claimMs - answerMs + 1);
      return result;
    };
    const suspended = { ...services, store: { ...store, read: store.read, transaction } };
    expect(await account(suspended)).toMatchObject({ secret: { value: 'access-token-0' } });
    expect(await row()).toMatchObject({ status: 'connected', refreshingUntil: null });
    expect(provider.sent).toEqual([]);
  });
});
