import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type ClientId,
  type CredentialId,
  type OrganizationId,
  clientId,
  scopesOf,
} from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type CreateClient,
  createClient,
  deleteClient as remove,
  getClient as get,
  listClients as list,
  updateClient as update,
} from '../../src/app/clients.ts';
import {
  type AddCredential,
  addCredential as add,
  revokeCredential as revoke,
} from '../../src/app/credentials.ts';
import { Refusal } from '../../src/app/refusal.ts';
import type { ClientChange } from '../../src/domain/client.ts';
import type { PageRequest } from '../../src/ports/page.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';

const DAY_MS = 86_400_000;

// Everything here is done by the same person, and nothing stays pending: test/app/withdrawals tells of that.
const listClients = async (world: IdentityFixture, home: OrganizationId, page: PageRequest) =>
  (await list(world, home, page)).map(({ resource }) => resource);
const getClient = async (world: IdentityFixture, home: OrganizationId, id: ClientId) => {
  const { client, credentials } = await get(world, home, id);
  return { client: client.resource, credentials: credentials.map(({ resource }) => resource) };
};
type At = { readonly id: ClientId; readonly change: ClientChange };
const updateClient = async (world: IdentityFixture, home: OrganizationId, at: At) =>
  (await update(world, home, { ...at, by })).resource;
const deleteClient = (world: IdentityFixture, home: OrganizationId, id: ClientId) =>
  remove(world, home, { id, by });
const addCredential = (
  world: IdentityFixture,
  home: OrganizationId,
  request: Omit<AddCredential, 'by'>,
) => add(world, home, { ...request, by });
const revokeCredential = (
  world: IdentityFixture,
  home: OrganizationId,
  at: { readonly clientId: ClientId; readonly credentialId: CredentialId },
) => revoke(world, home, { ...at, by });

describe.each(databaseKinds)('automation clients on %s', (kind) => {
  let world: IdentityFixture;
  let home: OrganizationId;
  let keys = 0;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });
  beforeEach(async () => {
    home = await world.seed.organization();
  });

  const request = (change: Partial<CreateClient> = {}): CreateClient => ({
    name: 'Backend',
    description: undefined,
    permissions: { profile: 'invoke' },
    lifetimeDays: 90,
    idempotencyKey: `key-${(keys += 1)}`,
    by,
    chargeRate: () => {},
    ...change,
  });
  const create = (change?: Partial<CreateClient>) => createClient(world, home, request(change));
  const page = { limit: 100, order: 'desc' } as const;

  async function refusal(attempt: Promise<unknown>): Promise<Refusal> {
    const error: unknown = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Refusal);
    return error as Refusal;
  }
  const outcomes = async (attempts: Promise<unknown>[]) => {
    const counts: Record<string, number> = {};
    for (const { status, ...rest } of await Promise.allSettled(attempts)) {
      const reason = 'reason' in rest ? rest.reason : undefined;
      if (reason !== undefined && !(reason instanceof Refusal)) throw reason;
      const name = reason instanceof Refusal ? reason.code : status;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };

  test('a client comes with its first credential, which is called default (D-61)', async () => {
    const { client, credential, secret } = await create({ description: 'x', lifetimeDays: 1 });
    expect(client).toMatchObject({
      organizationId: home,
      name: 'Backend',
      description: 'x',
      profile: 'invoke',
      scopes: scopesOf('invoke'),
      status: 'active',
      version: 1,
      createdBy: 'usr_1',
    });
    expect(client.oauthClientId).not.toBe(client.id);
    expect(credential).toMatchObject({
      clientId: client.id,
      label: 'default',
      secretHint: secret.slice(-4),
      expiresAt: world.clock.now() + DAY_MS,
    });
    const found = await getClient(world, home, client.id);
    expect(found).toEqual({ client, credentials: [credential] });
    expect(world.secrets.matches(secret, credential.secretHmac)).toBe(true);
  });

  test('a custom client has exactly the scopes it names', async () => {
    const { client } = await create({ permissions: { profile: 'custom', scopes: ['runs:read'] } });
    expect((await getClient(world, home, client.id)).client.scopes).toEqual(['runs:read']);
  });

  test('a key with another body is a conflict, and in another organization another key (D-57)', async () => {
    const first = request({ idempotencyKey: 'shared-key' });
    await createClient(world, home, first);
    const other = { ...first, name: 'Other' };
    expect((await refusal(createClient(world, home, other))).code).toBe('idempotency_conflict');
    await createClient(world, await world.seed.organization(), other);
  });

  test('a repetition is answered before rate and capacity are checked (D-57)', async () => {
    let admitted = 0;
    const chargeRate = () => void (admitted += 1);
    const first = request({ chargeRate });
    await createClient(world, home, first);
    await refusal(createClient(world, home, first));
    expect(admitted).toBe(1);
  });

  test('a create that was refused leaves nothing, its key included', async () => {
    const chargeRate = () => {
      throw new Refusal('rate_limited');
    };
    const idempotencyKey = 'refused-key';
    expect((await refusal(create({ idempotencyKey, chargeRate }))).code).toBe('rate_limited');
    expect(await listClients(world, home, page)).toEqual([]);
    await create({ idempotencyKey });
  });

  test('no concurrency passes twenty clients, and a deleted one makes room (D-61)', async () => {
    const attempts = Array.from({ length: 30 }, () => create());
    expect(await outcomes(attempts)).toEqual({ fulfilled: 20, client_limit_reached: 10 });
    const [client] = await listClients(world, home, page);
    await deleteClient(world, home, client?.id ?? clientId(''));
    expect(await listClients(world, home, page)).toHaveLength(19);
    expect(await outcomes([create(), create()])).toEqual({
      fulfilled: 1,
      client_limit_reached: 1,
    });
  });

  test('clients are listed newest first, page by page', async () => {
    const made = [];
    for (let index = 0; index < 3; index += 1) made.unshift((await create()).client);
    expect(await listClients(world, home, page)).toEqual(made);
    const second = { limit: 2, order: 'desc', after: made[0]?.id } as const;
    expect(await listClients(world, home, second)).toEqual(made.slice(1));
    const ascending = { limit: 2, order: 'asc' } as const;
    expect(await listClients(world, home, ascending)).toEqual(made.toReversed().slice(0, 2));
  });

  test('a change raises the version by one and names the version it saw (D-64)', async () => {
    const { client } = await create();
    const at = (change: object) => ({ id: client.id, change: { version: 1, ...change } });
    world.clock.advance(1_000);
    const renamed = await updateClient(world, home, at({ name: 'New', description: 'd' }));
    expect(renamed).toEqual({
      ...client,
      name: 'New',
      description: 'd',
      version: 2,
      updatedAt: client.updatedAt + 1_000,
    });
    expect((await refusal(updateClient(world, home, at({ name: 'x' })))).code).toBe(
      'version_conflict',
    );
    const permitted = await updateClient(world, home, {
      id: client.id,
      change: { version: 2, description: '', permissions: { profile: 'observe' } },
    });
    expect(permitted).toMatchObject({
      description: null,
      profile: 'observe',
      scopes: scopesOf('observe'),
      version: 3,
    });
    expect((await getClient(world, home, client.id)).client).toEqual(permitted);
  });

  test('a deleted client is gone for everybody, and so are its credentials', async () => {
    const { client, credential } = await create();
    await deleteClient(world, home, client.id);
    // Deleting it again changes nothing and succeeds.
    const gone = await world.store.read.clients.findEver(home, client.id);
    await deleteClient(world, home, client.id);
    expect(await world.store.read.clients.findEver(home, client.id)).toEqual(gone);
    expect((await refusal(getClient(world, home, client.id))).code).toBe('not_found');
    const change = { id: client.id, change: { version: 1, name: 'x' } };
    expect((await refusal(updateClient(world, home, change))).code).toBe('not_found');
    const revoked = await world.store.read.credentials.find(client.id, credential.id);
    expect(revoked?.revokedAt).toBe(world.clock.now());
  });

  test('another organization’s client is as absent as one that never was', async () => {
    const { client, credential } = await create();
    const away = await world.seed.organization();
    const change = { version: 1, name: 'x' };
    const added = { label: 'x', lifetimeDays: 1, idempotencyKey: 'away-key', chargeRate: () => {} };
    for (const id of [client.id, clientId('cli_unknown')]) {
      const revocation = { clientId: id, credentialId: credential.id };
      for (const attempt of [
        () => getClient(world, away, id),
        () => updateClient(world, away, { id, change }),
        () => deleteClient(world, away, id),
        () => addCredential(world, away, { ...added, clientId: id }),
        () => revokeCredential(world, away, revocation),
      ]) {
        expect(await refusal(attempt())).toMatchObject({ code: 'not_found', details: {} });
      }
    }
    expect((await getClient(world, home, client.id)).client).toEqual(client);
  });

  describe('credentials', () => {
    const addTo = (client: { id: ReturnType<typeof clientId> }, key = `add-${(keys += 1)}`) =>
      addCredential(world, home, {
        clientId: client.id,
        label: 'second',
        lifetimeDays: 365,
        idempotencyKey: key,
        chargeRate: () => {},
      });

    test('no concurrency passes two live ones; revoking or expiry makes room (D-62)', async () => {
      const { client, credential } = await create({ lifetimeDays: 1 });
      const attempts = Array.from({ length: 10 }, () => addTo(client));
      expect(await outcomes(attempts)).toEqual({ fulfilled: 1, credential_limit_reached: 9 });
      const at = { clientId: client.id, credentialId: credential.id };
      await revokeCredential(world, home, at);
      await revokeCredential(world, home, at);
      await addTo(client);
      expect((await refusal(addTo(client))).code).toBe('credential_limit_reached');
      world.clock.advance(365 * DAY_MS);
      await addTo(client);
      expect((await getClient(world, home, client.id)).credentials).toHaveLength(4);
    });

    test('the same key never issues a second secret (D-63)', async () => {
      const { client } = await create();
      const attempts = Array.from({ length: 10 }, () => addTo(client, 'rotation-key'));
      expect(await outcomes(attempts)).toEqual({ fulfilled: 1, secret_already_issued: 9 });
      const refused = await refusal(addTo(client, 'rotation-key'));
      const [newest] = (await getClient(world, home, client.id)).credentials;
      expect(refused.details).toEqual({
        client: { id: client.id },
        credential: { id: newest?.id },
        client_id: client.oauthClientId,
      });
    });

    test('an unknown one, or another client’s, cannot be revoked', async () => {
      const { client } = await create();
      const { credential } = await create();
      const at = { clientId: client.id, credentialId: credential.id };
      expect((await refusal(revokeCredential(world, home, at))).code).toBe('not_found');
    });
  });
});

test('no issued secret is in any file of the database (D-65)', async () => {
  const world = await createIdentityFixture('sqlite');
  const home = await world.seed.organization();
  const secrets: string[] = [];
  const base = { description: undefined, lifetimeDays: 90, by, chargeRate: () => {} };
  for (const name of ['one', 'two', 'three']) {
    const permissions = { profile: 'invoke' } as const;
    const { client, secret } = await createClient(world, home, {
      ...base,
      name,
      permissions,
      idempotencyKey: `client-${name}`,
    });
    const added = await addCredential(world, home, {
      ...base,
      clientId: client.id,
      label: name,
      idempotencyKey: `credential-${name}`,
    });
    secrets.push(secret, added.secret);
  }
  const folder = dirname(world.location);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  for (const secret of secrets) {
    expect(files.some((bytes) => bytes.includes(secret.slice(4, 47)))).toBe(false);
  }
  expect(files.some((bytes) => bytes.includes('credential-three'))).toBe(true);
});
