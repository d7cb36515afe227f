import { type ClientId, type CredentialId, type OrganizationId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  updateClient,
} from '../../src/app/clients.ts';
import { revokeCredential } from '../../src/app/credentials.ts';
import type { WithdrawingServices } from '../../src/app/withdrawals.ts';
import type { ClientChange } from '../../src/domain/client.ts';
import type { Withdrawal } from '../../src/domain/withdrawal.ts';
import type { CredentialProvider } from '../../src/ports/credential-provider.ts';
import { sql } from '../../src/store/sql.ts';
import { finishWithdrawals } from '../../src/workers/finish-withdrawals.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';

/** A provider elsewhere: it is asked, and says when it is done. */
class SlowProvider implements CredentialProvider {
  answer: 'done' | 'pending' | 'failing' | 'silent' = 'pending';
  readonly asked: Withdrawal[] = [];
  withdraw(withdrawal: Withdrawal): Promise<'done' | 'pending'> {
    this.asked.push(withdrawal);
    if (this.answer === 'failing') return Promise.reject(new Error('the provider is away'));
    if (this.answer === 'silent') return new Promise(() => {});
    return Promise.resolve(this.answer);
  }
}

describe.each(databaseKinds)('withdrawing access on %s (spec §5.7)', (kind) => {
  let world: IdentityFixture;
  let home: OrganizationId;
  let provider: SlowProvider;
  let services: IdentityFixture & WithdrawingServices;
  let keys = 0;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });
  beforeEach(async () => {
    home = await world.seed.organization();
    provider = new SlowProvider();
    services = { ...world, provider };
  });

  const create = async () =>
    createClient(world, home, {
      name: 'Backend',
      description: undefined,
      permissions: { profile: 'invoke' },
      lifetimeDays: 90,
      idempotencyKey: `withdrawal-${(keys += 1)}`,
      by,
      chargeRate: () => {},
    });
  const change = (id: ClientId, changed: Omit<ClientChange, 'version'>, version = 1) =>
    updateClient(services, home, { id, change: { version, ...changed }, by });
  const revoke = (of: ClientId, credentialId: CredentialId) =>
    revokeCredential(services, home, { clientId: of, credentialId, by });
  const read = (id: ClientId) => getClient(world, home, id);
  const pendingOf = async (id: ClientId) => (await read(id)).client.pending?.kind;
  /** What a worker does until nothing is due. */
  const work = async () => {
    while (await finishWithdrawals(services));
  };
  const rowsOf = async () =>
    world.database.all(sql`select id from withdrawals where organization_id = ${home}`);

  const withdrawals: Record<string, (id: ClientId, credential: CredentialId) => Promise<unknown>> =
    {
      disable_client: (id) => change(id, { status: 'disabled' }),
      change_permissions: (id) => change(id, { permissions: { profile: 'observe' } }),
      delete_client: (id) => deleteClient(services, home, { id, by }),
      revoke_credential: (id, credential) => revoke(id, credential),
    };

  test.each(Object.keys(withdrawals))(
    '%s is complete at once with the built-in one',
    async (name) => {
      services = { ...world };
      const { client, credential } = await create();
      expect(await withdrawals[name]?.(client.id, credential.id)).toMatchObject({
        pending: undefined,
      });
      expect(await rowsOf()).toEqual([]);
    },
  );

  test.each(Object.keys(withdrawals))(
    '%s is pending with a slow one, until a worker finds it done',
    async (name) => {
      const { client, credential } = await create();
      const asked = await withdrawals[name]?.(client.id, credential.id);
      expect(asked).toMatchObject({ pending: { kind: name, requestedAt: world.clock.now() } });
      expect(await rowsOf()).toHaveLength(1);
      await work();
      expect(provider.asked).toHaveLength(1);
      world.clock.advance(2_000);
      await work();
      expect(provider.asked).toHaveLength(2);
      provider.answer = 'done';
      await work();
      expect(await rowsOf()).toHaveLength(1);
      world.clock.advance(4_000);
      await work();
      expect(await rowsOf()).toEqual([]);
      expect(provider.asked.every(({ clientId: of }) => of === client.id)).toBe(true);
    },
  );

  test('what bites has bitten while the rest is pending', async () => {
    const { client, credential } = await create();
    await change(client.id, { permissions: { profile: 'observe' } });
    expect((await read(client.id)).client.resource.profile).toBe('observe');
    await revoke(client.id, credential.id);
    const live = await world.store.read.credentials.live(client.id, world.clock.now());
    expect(live).toEqual([]);
    await change(client.id, { status: 'disabled' }, 2);
    expect((await read(client.id)).client.resource.status).toBe('disabled');
    await deleteClient(services, home, { id: client.id, by });
    await expect(read(client.id)).rejects.toThrow('Not found');
    expect(await rowsOf()).toHaveLength(4);
  });

  test('a pending withdrawal shows on the client, on the credential, and in the list', async () => {
    const { client, credential } = await create();
    await change(client.id, { status: 'disabled' });
    await revoke(client.id, credential.id);
    const shown = await read(client.id);
    expect(shown.client.pending?.kind).toBe('disable_client');
    expect(shown.credentials[0]?.pending?.kind).toBe('revoke_credential');
    const [listed] = await listClients(world, home, { limit: 9, order: 'desc' });
    expect(listed?.pending?.kind).toBe('disable_client');
    const again = await revoke(client.id, credential.id);
    expect(again.pending?.id).toBe(shown.credentials[0]?.pending?.id);
  });

  test('enabling a client calls the disabling off; widening it, the narrowing', async () => {
    const { client } = await create();
    await change(client.id, { status: 'disabled' });
    await change(client.id, { status: 'active' }, 2);
    expect(await pendingOf(client.id)).toBeUndefined();
    await change(client.id, { permissions: { profile: 'observe' } }, 3);
    expect(await pendingOf(client.id)).toBe('change_permissions');
    await change(client.id, { permissions: { profile: 'invoke' } }, 4);
    expect(await pendingOf(client.id)).toBeUndefined();
    expect(await rowsOf()).toEqual([]);
  });

  test('a provider that fails is called again, and does not delay the response', async () => {
    const { client } = await create();
    provider.answer = 'failing';
    const asked = await change(client.id, { status: 'disabled' });
    expect(asked.pending?.kind).toBe('disable_client');
    world.clock.advance(60_000);
    await work();
    provider.answer = 'done';
    world.clock.advance(60_000);
    await work();
    expect(await pendingOf(client.id)).toBeUndefined();
    expect(provider.asked.filter((one) => one.clientId === client.id)).toHaveLength(3);
  });

  test('a provider that says nothing is waited for a second by who asked, and asked again', async () => {
    const { client } = await create();
    provider.answer = 'silent';
    const asked = change(client.id, { status: 'disabled' });
    await expect.poll(() => provider.asked.length).toBe(1);
    world.clock.advance(1_000);
    expect((await asked).pending?.kind).toBe('disable_client');
    const silent = finishWithdrawals(services);
    world.clock.advance(1_000);
    const pass = finishWithdrawals(services);
    await expect.poll(() => provider.asked.length).toBe(2);
    world.clock.advance(30_000);
    await Promise.all([silent, pass]);
    provider.answer = 'done';
    world.clock.advance(60_000);
    await work();
    expect(await rowsOf()).toEqual([]);
  });

  test('a crash at any moment loses nothing: a later pass finishes', async () => {
    let crashes = 0;
    for (let moment = 0; ; moment += 1) {
      const { client } = await create();
      let calls = 0;
      const crashing = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
        return async (...args: A): Promise<R> => {
          if (calls++ === moment) throw new Error('crash before');
          const result = await call(...args);
          if (calls++ === moment) throw new Error('crash after');
          return result;
        };
      };
      const transaction = crashing((job: Parameters<typeof world.store.transaction>[0]) =>
        world.store.transaction(job),
      );
      provider.answer = 'done';
      const fragile = {
        ...services,
        store: { ...world.store, transaction } as typeof world.store,
        provider: { withdraw: crashing((one: Withdrawal) => provider.withdraw(one)) },
      };
      await updateClient(fragile, home, {
        id: client.id,
        change: { version: 1, status: 'disabled' },
        by,
      }).catch(() => undefined);
      const isKept = (await read(client.id)).client.resource.status === 'disabled';
      world.clock.advance(120_000);
      await work();
      expect(await rowsOf()).toEqual([]);
      expect((await read(client.id)).client.resource.status).toBe(isKept ? 'disabled' : 'active');
      await deleteClient(world, home, { id: client.id, by });
      if (calls <= moment) break;
      crashes += 1;
    }
    expect(crashes).toBeGreaterThan(6);
  });

  test('two workers at once take each step without harm', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, create));
    for (const { client } of made) await change(client.id, { status: 'disabled' });
    provider.answer = 'done';
    world.clock.advance(60_000);
    await Promise.all([work(), work(), work()]);
    expect(await rowsOf()).toEqual([]);
  });

  test('the streams of the client are woken, those of others are not', async () => {
    const [one, other, third] = [await create(), await create(), await create()];
    const woken: string[] = [];
    for (const { client } of [one, other, third]) {
      world.fanout.subscribe(`access:${client.id}`, () => woken.push(client.id));
    }
    await change(one.client.id, { status: 'disabled' });
    await revoke(other.client.id, other.credential.id);
    expect(woken).toEqual([one.client.id, other.client.id]);
  });
});
