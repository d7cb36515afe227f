import {
  type ConnectionRecord,
  type JsonObject,
  connectionId,
  idPrefixes,
  limits,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { createConnectionSecrets } from '../../src/auth/connection-secrets.ts';
import { deriveKey, loadMasterKey } from '../../src/auth/master-key.ts';
import { openConnection } from '../../src/domain/connections/connection.ts';
import { databaseKinds } from '../support/databases.ts';
import { type NewClient, addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { tenantDataAgents } from '../support/tenant-data.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

const bearer = { type: 'bearer', token: 'tok-plain-and-secret' };
const oauth = {
  type: 'oauth',
  access_token: 'acc-plain-and-secret',
  expires_at: '2030-01-15T09:30:00.000Z',
  refresh_token: 'ref-plain-and-secret',
  token_endpoint: 'https://192.0.2.1/token',
  client_id: 'Iv1.8a61',
  client_secret: 'sec-plain-and-secret',
  scope: 'repo',
};

/** Accounts of tenants and of their end users: who writes them, and that nobody reads them (D-590 to D-595). */
describe.each(databaseKinds)('connections on %s', (database) => {
  let server: TestServer;
  /** In which nothing is ever stored. */
  let empty: Awaited<ReturnType<typeof newTenant>>;
  beforeAll(async () => {
    server = await startServer({
      database,
      agents: tenantDataAgents,
      env: { CONVOKE_CONNECTION_ALLOW: '192.0.2.0/24' },
    });
    empty = await newTenant();
  });

  async function newTenant(client: NewClient = {}) {
    const id = await addTenant(server, 'Connected');
    const as = (await addClient(server, client)).in(id);
    const put = (service: string, body: object, by = as) =>
      server.send('put_connection', { as: by, params: { service }, body });
    const refusedPut = (service: string, body: object, by = as) =>
      server.refused('put_connection', { as: by, params: { service }, body });
    const list = async (query: Record<string, string> = {}, by = as) =>
      (await server.send('list_connections', { as: by, query })).body.connections;
    const remove = (service: string, end_user?: string, by = as) => {
      const query = end_user === undefined ? '' : `?end_user=${encodeURIComponent(end_user)}`;
      return server.call('DELETE', `/v1/connections/${service}${query}`, { as: by });
    };
    return { id, as, put, refusedPut, list, remove };
  }

  test('one for each service and owner, replaced by the next one (D-590)', async () => {
    const { put, list } = await newTenant();
    const created = await put('github', { end_user: 'u-17', auth: oauth });
    expect(created.status).toBe(201);
    const { type, expires_at, token_endpoint, client_id, scope } = oauth;
    const shown = { type, expires_at, token_endpoint, client_id, scope };
    expect(created.body).toEqual({
      id: expect.stringMatching(/^con_[0-9a-hjkmnp-tv-z]{26}$/),
      service: 'github',
      end_user: 'u-17',
      status: 'connected',
      version: 1,
      auth: { ...shown, refreshes: true },
      created_by: expect.stringMatching(/^cli_/),
      created_by_name: 'Client',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: created.body.created_at,
    });
    const replaced = await put('github', { end_user: 'u-17', auth: bearer });
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({
      id: created.body.id,
      version: 2,
      auth: { type: 'bearer' },
    });
    const others = [
      await put('github', { end_user: 'u-18', auth: bearer }),
      await put('github', { auth: { type: 'header', name: 'X-Api-Key', value: 'val-secret' } }),
      await put('crm', { end_user: 'u-17', auth: bearer }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(others[1]?.body).toMatchObject({ auth: { type: 'header', name: 'X-Api-Key' } });
    expect(others[1]?.body.end_user).toBeUndefined();
    const ids = others.map(({ body }) => body.id).toReversed();
    expect((await list()).map(({ id }) => id)).toEqual([...ids, created.body.id]);
    const owners = async (query: Record<string, string>) =>
      (await list(query)).map((one: ConnectionRecord) => [one.service, one.end_user]);
    expect(await owners({ end_user: 'u-17' })).toEqual([
      ['crm', 'u-17'],
      ['github', 'u-17'],
    ]);
    expect(await owners({ service: 'github', end_user: 'u-18' })).toEqual([['github', 'u-18']]);
    expect(await owners({ status: 'expired' })).toEqual([]);
    expect(await owners({ limit: '1', status: 'connected' })).toEqual([['crm', 'u-17']]);
  });

  test('requests at the same time make one connection (D-590)', async () => {
    const { put, list } = await newTenant();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => put('github', { end_user: 'u-1', auth: bearer })),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(made.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(await list()).toMatchObject([{ version: 8 }]);
  });

  test('a deleted one is gone with its secret, and deleting it again finds nothing (D-594)', async () => {
    const { id, put, list, remove } = await newTenant();
    await put('github', { end_user: 'u-17', auth: bearer });
    await put('github', { auth: bearer });
    expect((await remove('github', 'u-17')).status).toBe(204);
    expect((await list()).map(({ end_user }) => end_user)).toEqual([undefined]);
    const nothing = await remove('github', 'u-17');
    expect(nothing).toMatchObject({ status: 404 });
    const other = await newTenant();
    await other.put('gitlab', { auth: bearer });
    const foreign = await remove('gitlab');
    const plain = (text: string) => text.replace(/"request_id":"[^"]*"/, '');
    expect(plain(foreign.text)).toBe(plain(nothing.text));
    const { store } = server.convoke.services;
    const found = await store.read.connections.find(
      { tenantId: tenantId(id) },
      { service: 'github', endUser: 'u-17' },
    );
    expect(found).toBeUndefined();
  });

  test('what is stored opens for its own id and version only (D-593)', async () => {
    const { id, put } = await newTenant();
    await put('github', { end_user: 'u-17', auth: oauth });
    const { store } = server.convoke.services;
    const masterKey = await loadMasterKey(server.config.cluster.masterKeyFile);
    const secrets = createConnectionSecrets(deriveKey(masterKey, 'connection-secrets'));
    const at = { service: 'github', endUser: 'u-17' };
    const read = () => store.read.connections.find({ tenantId: tenantId(id) }, at);
    const first = await read();
    if (first === undefined) throw new Error('the connection is not stored');
    expect(JSON.stringify(first)).not.toMatch(/plain-and-secret/);
    expect(secrets.open(first)).toEqual({
      value: oauth.access_token,
      refreshToken: oauth.refresh_token,
      clientSecret: oauth.client_secret,
    });
    await put('github', { end_user: 'u-17', auth: bearer });
    const second = await read();
    if (second === undefined) throw new Error('the connection is not stored');
    expect(secrets.open({ ...second, sealed: first.sealed })).toBeUndefined();
    expect(secrets.open({ ...second, id: connectionId('con_x') })).toBeUndefined();
    expect(secrets.open(second)).toEqual({ value: bearer.token });
  });

  const secretText = 'x'.repeat(limits.connectionSecretMaxCharacters + 1);
  test.each<[string, JsonObject, string]>([
    ['no kind of secret', { auth: {} }, 'invalid_body'],
    ['two kinds of secret', { auth: { ...bearer, value: 'another-secret' } }, 'unknown_field'],
    ['an unknown field', { auth: bearer, vault: 'v' }, 'unknown_field'],
    ['an unknown kind', { auth: { ...bearer, type: 'basic' } }, 'invalid_body'],
    ['a secret of 7 characters', { auth: { ...bearer, token: 'seven77' } }, 'invalid_body'],
    ['a secret that is too long', { auth: { ...bearer, token: secretText } }, 'invalid_body'],
    ['a control character', { auth: { ...bearer, token: 'plain-and-\nsecret' } }, 'invalid_body'],
    ['a letter beyond ASCII', { auth: { ...bearer, token: 'plain-and-secrét' } }, 'invalid_body'],
    ['a blank at the end', { auth: { ...bearer, token: 'plain-and-secret ' } }, 'invalid_body'],
    ...[
      'Host',
      'cookie',
      'Content-Type',
      'Mcp-Session-Id',
      'Connection',
      'TE',
      'Expect',
      'a b',
      '',
    ].map((name): [string, JsonObject, string] => [
      `the header "${name}"`,
      { auth: { type: 'header', name, value: 'plain-and-secret' } },
      'invalid_body',
    ]),
    ['a time that is none', { auth: { ...oauth, expires_at: 'tomorrow' } }, 'invalid_body'],
    ['a refresh without an endpoint', { auth: without('token_endpoint') }, 'invalid_body'],
    ['a refresh without a client', { auth: without('client_id') }, 'invalid_body'],
    ['a client secret without a use', { auth: without('refresh_token') }, 'invalid_body'],
    ['an empty end user', { end_user: '', auth: bearer }, 'invalid_body'],
    ['a blank end user', { end_user: ' ', auth: bearer }, 'invalid_body'],
    ['an end user of 201 characters', { end_user: 'u'.repeat(201), auth: bearer }, 'invalid_body'],
    ['a person as end user', { end_user: `${idPrefixes.user}_01ja`, auth: bearer }, 'invalid_body'],
    ...['http://192.0.3.1/', 'https://10.0.0.1/', 'https://[::1]/', 'nonsense', 'file:///etc'].map(
      (token_endpoint): [string, JsonObject, string] => [
        `the token endpoint ${token_endpoint}`,
        { auth: { ...oauth, token_endpoint } },
        'invalid_connection_url',
      ],
    ),
  ])('%s is refused and stores nothing', async (_, body, code) => {
    const { refusedPut, list } = empty;
    const refused = await refusedPut('github', body);
    expect(refused).toMatchObject({ status: 400, error: code });
    expect(refused.text).not.toMatch(/plain-and|another-secret|seven77|null must/);
    expect(await list()).toEqual([]);
  });

  function without(name: keyof typeof oauth): JsonObject {
    const { [name]: _, ...rest } = oauth;
    return rest;
  }

  test.each(['GitHub', '-a', 'a_b', 'x'.repeat(65)])('no service is called %s', async (service) => {
    const { refusedPut } = empty;
    const refused = await refusedPut(service, { auth: bearer });
    expect(refused).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('a tenant has a bounded number of connections (D-590)', async () => {
    const { id, as, put, refusedPut, remove } = await newTenant();
    const { store, clock, ids } = server.convoke.services;
    const scope = {
      organizationId: organizationId(server.quickstart.organization_id),
      tenantId: tenantId(id),
    };
    await store.transaction(async (tx) => {
      const rows = Array.from({ length: limits.connectionsPerTenant }, (_, index) =>
        openConnection(
          {
            ...scope,
            id: connectionId(ids.next(idPrefixes.connection)),
            service: 'github',
            endUser: `u-${index}`,
            createdBy: { kind: 'client', id: 'cli_1' },
          },
          { auth: { type: 'bearer' }, sealed: '', expiresAt: null },
          clock.now(),
        ),
      );
      await Promise.all(rows.map((row) => tx.connections.insert(row)));
    });
    const limit = { status: 409, error: 'connection_limit_reached' };
    expect(await refusedPut('github', { auth: bearer })).toMatchObject(limit);
    const body = { agent_name: 'connected', end_user: 'u-new' };
    const { body: session } = await server.send('create_session', { as, body });
    const inSession = {
      as,
      params: { session_id: session.id, service: 'github' },
      body: { auth: bearer },
    };
    expect(await server.refused('put_session_connection', inSession)).toMatchObject(limit);
    expect((await put('github', { end_user: 'u-0', auth: bearer })).status).toBe(200);
    expect((await remove('github', 'u-1')).status).toBe(204);
    expect((await put('github', { auth: bearer })).status).toBe(201);
  });

  describe('of people (D-595)', () => {
    const signIn = async (role: 'viewer' | 'operator' | 'admin' | 'owner') => {
      const id = await addMember(server, role);
      return { id, as: await asPerson(server, id) };
    };
    const put = (as: object, body: object) =>
      server.call('PUT', '/v1/connections/mail', { as: { ...as }, body });
    const remove = (as: object, end_user?: string) => {
      const query = end_user === undefined ? '' : `?end_user=${end_user}`;
      return server.call('DELETE', `/v1/connections/mail${query}`, { as: { ...as } });
    };
    const statuses = async (answers: readonly Promise<{ readonly status: number }>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);

    test('a viewer reads them', async () => {
      const { id, as } = await signIn('viewer');
      expect((await server.send('list_connections', { as })).status).toBe(200);
      const refused = [put(as, { end_user: id, auth: bearer }), remove(as, id)];
      expect(await statuses(refused)).toEqual([403, 403]);
    });

    test('an operator writes the own ones', async () => {
      const { id, as } = await signIn('operator');
      const other = await signIn('operator');
      expect(await statuses([put(other.as, { end_user: other.id, auth: bearer })])).toEqual([201]);
      expect(await statuses([put(as, { end_user: id, auth: bearer })])).toEqual([201]);
      const refused = [
        put(as, { auth: bearer }),
        put(as, { end_user: other.id, auth: bearer }),
        put(as, { end_user: 'u-17', auth: bearer }),
        remove(as),
        remove(as, other.id),
        remove(as, 'u-17'),
      ];
      expect(await statuses(refused)).toEqual(refused.map(() => 403));
      expect(await statuses([remove(as, id)])).toEqual([204]);
    });

    test.each(['admin', 'owner'] as const)(
      'an %s also those of the tenant, and deletes those of others',
      async (role) => {
        const { as } = await signIn(role);
        const other = await signIn('operator');
        await put(other.as, { end_user: other.id, auth: bearer });
        await server.send('put_connection', {
          params: { service: 'mail' },
          body: { end_user: 'u-17', auth: bearer },
        });
        expect([200, 201]).toContain((await put(as, { auth: bearer })).status);
        const refused = [
          put(as, { end_user: other.id, auth: bearer }),
          put(as, { end_user: 'u-17', auth: bearer }),
        ];
        expect(await statuses(refused)).toEqual([403, 403]);
        const removed = [remove(as), remove(as, other.id), remove(as, 'u-17')];
        expect(await statuses(removed)).toEqual([204, 204, 204]);
      },
    );

    test('a client never deletes that of a person', async () => {
      const { id, as } = await signIn('operator');
      await put(as, { end_user: id, auth: bearer });
      expect(await statuses([remove(server.client, id)])).toEqual([403]);
    });
  });

  test('the audit log names them without a value (D-602)', async () => {
    const { put, remove } = await newTenant();
    const { body } = await put('github', { end_user: 'u-17', auth: oauth });
    await remove('github', 'u-17');
    const { organization_id } = server.quickstart;
    const params = { organization_id };
    const query = { object: body.id };
    const { body: audit, text } = await server.send('list_audit', {
      as: server.owner,
      params,
      query,
    });
    expect(audit.rows.map(({ action, details }) => [action, details])).toEqual([
      [
        'connection.delete',
        expect.objectContaining({ service: 'github', owner: 'u-17', auth_type: 'oauth' }),
      ],
      ['connection.put', expect.objectContaining({ owner: 'u-17', version: 1 })],
    ]);
    expect(text).not.toMatch(/plain-and-secret/);
  });
});
