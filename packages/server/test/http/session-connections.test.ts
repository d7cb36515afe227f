import { beforeAll, describe, expect, test } from 'vitest';
import type { Identity } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

const auth = { type: 'bearer', token: 'tok-plain-and-secret' };
const ended = {
  type: 'oauth',
  access_token: 'acc-plain-and-secret',
  expires_at: '2020-01-15T09:30:00.000Z',
};
const agents = {
  connected: {
    description: 'Uses accounts',
    connections: {
      crm: { owner: 'tenant' },
      github: { owner: 'end_user' },
      mail: { owner: 'end_user', fallback: 'tenant', required: false },
    },
    script: [{ say: 'hi' }],
  },
};

/** The accounts of one session: for pages of a product (D-595, D-941). */
describe.each(databaseKinds)('the connections of a session on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents });
  });

  async function newTenant() {
    const id = await addTenant(server, 'Connected');
    const as = (await addClient(server, {})).in(id);
    return { id, as };
  }

  async function open(as: Identity, end_user?: string) {
    const body = { agent_name: 'connected', ...(end_user === undefined ? {} : { end_user }) };
    return (await server.send('create_session', { as, body })).body.id;
  }

  const put = (as: Identity, service: string, body: object) =>
    server.send('put_connection', { as, params: { service }, body });
  const statuses = async (as: Identity, session_id: string) => {
    const { body } = await server.send('list_session_connections', { as, params: { session_id } });
    return body.connections.map(({ service, status, status_reason }) =>
      [service, status, status_reason ?? []].flat().join(' '),
    );
  };

  test('says what a run would use now (D-596)', async () => {
    const { as } = await newTenant();
    const session = await open(as, 'u-17');
    expect(await statuses(as, session)).toEqual(['crm missing', 'github missing', 'mail missing']);
    await put(as, 'crm', { auth: ended });
    await put(as, 'github', { end_user: 'u-18', auth });
    const { body: mail } = await put(as, 'mail', { auth });
    expect(await statuses(as, session)).toEqual([
      'crm expired no_refresh',
      'github missing',
      'mail connected',
    ]);
    const params = { session_id: session };
    const { body } = await server.send('list_session_connections', { as, params });
    expect(body.connections[2]).toEqual({
      service: 'mail',
      owner: 'end_user',
      required: false,
      status: 'connected',
      connection_id: mail.id,
    });
    // One of the own that has ended does not fall back.
    await put(as, 'mail', { end_user: 'u-17', auth: ended });
    expect((await statuses(as, session))[2]).toBe('mail expired no_refresh');
  });

  test('a page connects the account of its own user, where its token was made for that', async () => {
    const { as } = await newTenant();
    const session_id = await open(as, 'u-17');
    const tokenOf = async (body: object) => {
      const made = await server.send('create_session_token', { as, params: { session_id }, body });
      return bearer(made.body.token);
    };
    const params = { session_id, service: 'github' };
    const usual = await tokenOf({});
    for (const refused of [
      await server.refused('list_session_connections', { as: usual, params }),
      await server.refused('put_session_connection', { as: usual, params, body: { auth } }),
    ]) {
      expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
    }
    const page = await tokenOf({ scopes: ['connections:read', 'connections:write'] });
    expect(await statuses(page, session_id)).toContain('github missing');
    const made = await server.send('put_session_connection', { as: page, params, body: { auth } });
    expect(made).toMatchObject({ status: 201, body: { end_user: 'u-17', status: 'connected' } });
    expect(made.text).not.toContain('plain-and-secret');
    const again = await server.send('put_session_connection', { as, params, body: { auth } });
    expect(again).toMatchObject({ status: 200, body: { id: made.body.id, version: 2 } });
    expect(await statuses(page, session_id)).toContain('github connected');
    // All connections of the tenant are not for pages.
    const all = await server.refused('list_connections', { as: page });
    expect(all).toMatchObject({ status: 403, error: 'forbidden' });
    await server.send('delete_session_connection', { as: page, params });
    expect(await statuses(page, session_id)).toContain('github missing');
    const gone = await server.refused('delete_session_connection', { as: page, params });
    expect(gone).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('only services exist that the agent has of end users, and only with an end user (D-941)', async () => {
    const { as } = await newTenant();
    const session_id = await open(as, 'u-17');
    for (const service of ['crm', 'other']) {
      const params = { session_id, service };
      const refused = await server.refused('put_session_connection', {
        as,
        params,
        body: { auth },
      });
      expect(refused).toMatchObject({ status: 404, error: 'not_found' });
    }
    const params = { session_id: await open(as), service: 'github' };
    for (const refused of [
      await server.refused('put_session_connection', { as, params, body: { auth } }),
      await server.refused('delete_session_connection', { as, params }),
    ]) {
      expect(refused).toMatchObject({ status: 409, error: 'connection_missing' });
    }
    const { body } = await server.send('list_connections', { as });
    expect(body.connections).toEqual([]);
  });

  test('the guard of token endpoints holds here, too (D-609)', async () => {
    const { as } = await newTenant();
    const params = { session_id: await open(as, 'u-17'), service: 'github' };
    const put = (account: object) =>
      server.refused('put_session_connection', { as, params, body: { auth: account } });
    const inside = { ...ended, refresh_token: 'ref-plain-and-secret', client_id: 'client' };
    expect(await put({ ...inside, token_endpoint: 'https://10.0.0.1/token' })).toMatchObject({
      status: 400,
      error: 'invalid_connection_url',
    });
  });

  test('of the account of a person, only that person disposes (D-592, D-595)', async () => {
    const [me, colleague] = [await addMember(server, 'operator'), await addMember(server, 'admin')];
    const [as, asColleague] = [await asPerson(server, me), await asPerson(server, colleague)];
    const params = { session_id: await open(as), service: 'github' };
    const request = { params, body: { auth } };
    const refused = await server.refused('put_session_connection', { as: asColleague, ...request });
    expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    const byClient = await server.refused('put_session_connection', {
      as: server.client,
      ...request,
    });
    expect(byClient).toMatchObject({ status: 400, error: 'invalid_body' });
    const { body } = await server.send('put_session_connection', { as, ...request });
    expect(body.end_user).toBe(me);
  });
});
