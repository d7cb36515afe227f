import { setImmediate } from 'node:timers/promises';
import { connectionId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { currentAccount, rejectAccount } from '../../src/app/connections/current-account.ts';
import { deleteConnection } from '../../src/app/connections/connections.ts';
import { TokenRequests, turnMs } from '../../src/app/connections/token-requests.ts';
import { openConnection } from '../../src/domain/connections/connection.ts';
import { aheadOfLegMs, claimMs } from '../../src/domain/connections/refresh.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';
import { Death, at, moments, mortal, setUp } from './refresh-world.ts';

describe.each(databaseKinds)('the refresh of a token on %s (D-598)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });
  const begin = () => setUp(world);

  test('one server refreshes, the others wait and get the new token', async () => {
    const { provider, account } = await begin();
    const accounts = await Promise.all(Array.from({ length: 8 }, () => account()));
    expect(accounts.map((one) => one.kind === 'usable' && one.secret.value)).toEqual(
      Array.from({ length: 8 }, () => 'access-token-1'),
    );
    expect(provider.sent).toEqual(['refresh-token-0']);
    expect(await account()).toMatchObject({ kind: 'usable', connection: { version: 2 } });
  });

  test.each(moments)('a server that dies %s sends no refresh token twice', async (moment) => {
    const { provider, services, account, row, notices } = await begin();
    await expect(account(mortal(services, moment))).rejects.toThrow(Death);
    const wasStored = moment === 'after the answer is stored';
    const wasClaimed = moment !== 'before the claim';
    world.clock.advance(claimMs + 1);
    // Many look at once, of several servers: one of them says what has become of it.
    const accounts = await Promise.all(Array.from({ length: 5 }, () => account()));
    const kinds = new Set(accounts.map((one) => one.kind));
    expect(provider.reused).toBe(false);
    if (wasClaimed && !wasStored) {
      expect(kinds).toEqual(new Set(['expired']));
      expect(await row()).toMatchObject({ status: 'expired', statusReason: 'refresh_lost' });
      expect(await notices()).toBe(1);
    } else {
      expect(kinds).toEqual(new Set(['usable']));
      expect(await notices()).toBe(0);
    }
  });

  test.each(['before', 'after'])(
    'an answer whose commit fails is stored once the storage is back, failed %s it (D-962)',
    async (moment) => {
      const { provider, services, account, row, notices } = await begin();
      const { store } = services;
      let transactions = 0;
      const fail = (now: string) => {
        if (transactions === 2 && now === moment) throw new StorageUnavailable('away');
      };
      const transaction: typeof store.transaction = async (work) => {
        transactions += 1;
        fail('before');
        const result = await store.transaction(work);
        fail('after');
        return result;
      };
      const before = world.clock.timers;
      const found = account({ ...services, store: { ...store, read: store.read, transaction } });
      await eventually(() => world.clock.timers === before + 1);
      world.clock.advance(1000);
      expect(await found).toMatchObject({ secret: { value: 'access-token-1' } });
      expect(await row()).toMatchObject({ status: 'connected', version: 2, refreshingUntil: null });
      expect([provider.sent.length, await notices()]).toEqual([1, 0]);
    },
  );

  test('an account that is put during its refresh keeps the newer secret', async () => {
    const { provider, put, account, row } = await begin();
    provider.during = async () => {
      provider.during = async () => {};
      await put('access-token-put', 'refresh-token-put', 3_600_000);
    };
    expect(await account()).toMatchObject({ secret: { value: 'access-token-put' } });
    expect(await row()).toMatchObject({ status: 'connected', version: 2, refreshingUntil: null });
  });

  test('an account that is deleted during its refresh stays deleted', async () => {
    const { provider, services, scope, account } = await begin();
    provider.during = () => deleteConnection(services, scope, { at, by });
    expect(await account()).toEqual({ kind: 'missing' });
  });

  test('an answer that comes when the claim has run out is dropped', async () => {
    const { provider, account, row, notices } = await begin();
    provider.during = async () => {
      world.clock.advance(claimMs + 1);
      expect((await account()).kind).toBe('expired');
    };
    expect((await account()).kind).toBe('expired');
    expect(await row()).toMatchObject({ statusReason: 'refresh_lost', version: 1 });
    expect(await notices()).toBe(1);
  });

  test('a tenant has two requests under way, and an account without a turn uses its token while it lasts (D-946)', async () => {
    const { provider, services, scope, put, account, row } = await begin();
    const held = Promise.withResolvers<void>();
    const others = [1, 2].map(() =>
      services.tokenRequests.inTurn(scope.tenantId, { request: () => held.promise, late: 'late' }),
    );
    const late = async () => {
      const before = world.clock.timers;
      const found = account();
      await expect.poll(() => world.clock.timers).toBe(before + 1);
      world.clock.advance(turnMs);
      return found;
    };
    expect(await late()).toMatchObject({ secret: { value: 'access-token-0' } });
    await put('access-token-old', 'refresh-token-0', 0);
    expect((await late()).kind).toBe('unavailable');
    expect(await row()).toMatchObject({ refreshingUntil: null, retryAt: null });
    expect(provider.sent).toEqual([]);
    held.resolve();
    await Promise.all(others);
    expect(await account()).toMatchObject({ kind: 'usable', secret: { value: 'access-token-1' } });
  });

  test('a server that ends finishes the refresh under way, and begins no other (D-946)', async () => {
    const { provider, services, put, wanted, row } = await begin();
    const tokenRequests = new TokenRequests(world.clock);
    const ending = { ...services, tokenRequests };
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    provider.during = () => {
      asked.resolve();
      return answered.promise;
    };
    const account = currentAccount(ending, wanted);
    await asked.promise;
    const order: string[] = [];
    const closed = tokenRequests.close().then(() => order.push('closed'));
    // Whatever does not wait for the answer has its turn.
    await setImmediate();
    order.push('answered');
    answered.resolve();
    await closed;
    expect(order).toEqual(['answered', 'closed']);
    expect(await row()).toMatchObject({ version: 2, refreshingUntil: null });
    expect(await account).toMatchObject({ secret: { value: 'access-token-1' } });
    await put('access-token-old');
    expect(await currentAccount(ending, wanted)).toMatchObject({
      secret: { value: 'access-token-old' },
    });
    expect(provider.sent).toHaveLength(1);
  });

  test('an endpoint that is not available is asked later, and the token used while it lasts (D-599)', async () => {
    const { provider, account, row } = await begin();
    provider.answer = { kind: 'unavailable' };
    expect(await account()).toMatchObject({ secret: { value: 'access-token-0' } });
    expect(await account()).toMatchObject({ secret: { value: 'access-token-0' } });
    expect(provider.sent).toHaveLength(1);
    world.clock.advance(30_001);
    expect((await account()).kind).toBe('unavailable');
    expect((await row()).status).toBe('connected');
    provider.answer = 'usual';
    world.clock.advance(30_001);
    expect((await account()).kind).toBe('usable');
    expect(await row()).toMatchObject({ status: 'connected', retryAt: null });
  });

  test.each([
    ['refused', 'refresh_refused'],
    ['lost', 'refresh_lost'],
  ] as const)(
    'an answer that is %s expires the account once (D-599, D-602)',
    async (answer, reason) => {
      const { provider, account, row, notices, put } = await begin();
      provider.answer = { kind: answer };
      expect((await account()).kind).toBe('expired');
      expect((await account()).kind).toBe('expired');
      expect(provider.sent).toHaveLength(1);
      expect(await row()).toMatchObject({ status: 'expired', statusReason: reason });
      expect(await notices()).toBe(1);
      await put('access-token-again', 'refresh-token-0', 3_600_000);
      expect((await account()).kind).toBe('usable');
    },
  );

  test('an answer without a refresh token keeps the one before', async () => {
    const { provider, services, account, row } = await begin();
    const token = { accessToken: 'access-token-only', expiresInSeconds: 60 };
    provider.answer = { kind: 'refreshed', token };
    expect(await account()).toMatchObject({ secret: { value: 'access-token-only' } });
    provider.answer = { kind: 'lost' };
    expect((await account()).kind).toBe('expired');
    expect(provider.sent).toEqual(['refresh-token-0', 'refresh-token-0']);
    expect(services.connectionSecrets.open(await row())).toMatchObject({
      value: 'access-token-only',
    });
  });

  test.each([300, 60, 1])(
    'a service whose tokens last for %i s is asked once for each leg that starts',
    async (expiresInSeconds) => {
      const { provider, scope, services } = await begin();
      let issued = 0;
      provider.during = async () => {
        issued += 1;
        if (issued > 10) throw new Error('It is asked again and again.');
        const accessToken = `access-token-${issued}`;
        const refreshToken = `refresh-token-${issued}`;
        provider.answer = {
          kind: 'refreshed',
          token: { accessToken, refreshToken, expiresInSeconds },
        };
      };
      const leg = () => currentAccount(services, { scope, at, aheadMs: aheadOfLegMs });
      expect(await leg()).toMatchObject({ secret: { value: 'access-token-1' } });
      world.clock.advance(1000);
      expect(await leg()).toMatchObject({ secret: { value: 'access-token-2' } });
      const together = await Promise.all([leg(), leg(), leg()]);
      expect(together.every(({ kind }) => kind === 'usable')).toBe(true);
      expect(provider.reused).toBe(false);
    },
  );

  test('a refused token of the version that was used expires, and a newer one does not (D-600)', async () => {
    const { services, put, row } = await begin();
    await put('access-token-1', 'refresh-token-1', 3_600_000);
    const used = await row();
    await put('access-token-2', 'refresh-token-2', 3_600_000);
    await rejectAccount(services, used);
    expect((await row()).status).toBe('connected');
    await rejectAccount(services, await row());
    expect(await row()).toMatchObject({ status: 'expired', statusReason: 'rejected' });
  });

  test('a secret that another key has sealed expires as unreadable', async () => {
    const { scope, account, row } = await begin();
    const { id } = await row();
    await world.store.transaction((tx) => tx.connections.remove({ ...scope, id }));
    const createdBy = { kind: 'client', id: 'cli_1' } as const;
    const identity = { ...scope, ...at, id: connectionId(`${id}x`), createdBy };
    const foreign = { auth: { type: 'bearer' }, sealed: 'nonsense', expiresAt: null } as const;
    const opened = openConnection(identity, foreign, world.clock.now());
    await world.store.transaction((tx) => tx.connections.insert(opened));
    expect((await account()).kind).toBe('expired');
    expect(await row()).toMatchObject({ statusReason: 'unreadable' });
  });
});
