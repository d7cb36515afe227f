import { limits, organizationId, usualSessionTokenScopes } from '@convoke/contract';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import type { AuditRow } from '../../src/domain/audit.ts';
import { at, eventsPath, keyOf, openSession } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { FakeClock, MovingClock } from '../support/clocks.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type TestClient, addClient, addTenant } from '../support/identities.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

interface Asked {
  readonly as?: Identity;
  readonly body?: object;
}

/** Tokens for one session: how they are made, whom they name, and when they end (D-196 to D-200). */
describe.each(databaseKinds)('a token for one session, on %s', (database) => {
  const clock = new MovingClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, clock });
  });

  async function tokenFor(session_id: string, { as = server.client, body }: Asked = {}) {
    const params = { session_id };
    return (await server.send('create_session_token', { as, params, body })).body;
  }

  async function auditRow(isIt: (row: AuditRow) => boolean): Promise<AuditRow> {
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const found = (await listAudit({ store }, { chain, limit: 50 })).find(isIt);
    if (found === undefined) throw new Error('no such row');
    return found;
  }

  test('says what it opens, and is in the audit log before it is shown (D-196, D-197)', async () => {
    const { id } = await openSession(server, 'echo');
    const body = { end_user: 'user-7', expires_in_seconds: 60, scopes: ['runs:read'] };
    const params = { session_id: id };
    const created = await server.send('create_session_token', { params, body });
    expect(created.headers.get('cache-control')).toBe('no-store');
    const { token, expires_at, ...rest } = created.body;
    expect(rest).toEqual({
      token_type: 'Bearer',
      expires_in: 60,
      scopes: ['runs:read'],
      session_id: id,
    });
    const { exp = 0, jti, ...claims } = decodeJwt(token);
    expect(new Date(exp * 1000).toISOString()).toBe(expires_at);
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt' });
    expect(claims).toMatchObject({
      aud: server.baseUrl,
      client_id: server.quickstart.client_id,
      org: server.quickstart.organization_id,
      tenant: server.quickstart.tenant_id,
      session: id,
      scope: 'runs:read',
      credential_id: expect.stringMatching(/^cred?_/),
      end_user: 'user-7',
    });
    expect(await auditRow(({ object }) => object === jti)).toMatchObject({
      action: 'session_token.issue',
      by: { kind: 'client' },
      details: { session_id: id, scope: 'runs:read', end_user: 'user-7' },
    });
  });

  test('has all scopes that a page may have, unless fewer are asked for or held', async () => {
    const { id } = await openSession(server, 'echo');
    const usual = await tokenFor(id);
    expect(usual).toMatchObject({ expires_in: 900, scopes: [...usualSessionTokenScopes] });
    const scopes = ['sessions:write', 'runs:read', 'usage:read'] as const;
    const few = (await addClient(server, { profile: 'custom', scopes })).in(
      server.quickstart.tenant_id,
    );
    expect((await tokenFor(id, { as: few })).scopes).toEqual(['runs:read']);
    const none = await addClient(server, { profile: 'custom', scopes: ['sessions:write'] });
    const params = { session_id: id };
    for (const [as, body] of [
      [server.client, { scopes: ['runs:fly'] }],
      [server.client, { scopes: ['runs:read', 'sessions:write'] }],
      [server.client, { scopes: ['agents:read'] }],
      [few, { scopes: ['runs:write'] }],
      [none.in(server.quickstart.tenant_id), {}],
    ] as const) {
      const refused = await server.refused('create_session_token', { as, params, body });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_scope' });
    }
  });

  test('is refused with a wrong body, for an ended session, and to people', async () => {
    const { id } = await openSession(server, 'echo');
    const params = { session_id: id };
    for (const body of [
      { expires_in_seconds: 59 },
      { expires_in_seconds: 3601 },
      { expires_in_seconds: 60.5 },
      { scopes: [] },
      { end_user: '' },
      { end_user: '  ' },
      { end_user: 'x'.repeat(201) },
      { end_user: 'a\nb' },
    ]) {
      const refused = await server.refused('create_session_token', { params, body });
      expect([body, refused.status, refused.error]).toEqual([body, 400, 'invalid_body']);
    }
    const person = await asPerson(server, await addMember(server, 'owner'));
    const denied = await server.refused('create_session_token', { as: person, params });
    // D-52: who calls is checked before what is sent.
    const path = `/v1/sessions/${params.session_id}/tokens`;
    const malformed = await server.call('POST', path, { as: person, body: { zz: 1 } });
    expect(malformed.status).toBe(403);
    expect(denied).toMatchObject({ status: 403, error: 'forbidden', message: undefined });
    await server.send('stop_session', { params });
    expect((await tokenFor(id)).session_id).toBe(id);
    await server.send('stop_session', { params, body: { mode: 'terminate' } });
    const late = await server.refused('create_session_token', { params });
    expect(late).toMatchObject({ status: 409, error: 'session_terminal' });
  });

  test('needs no selectors, and accepts its own only (D-198)', async () => {
    const { id } = await openSession(server, 'echo');
    const { token } = await tokenFor(id, { body: { end_user: 'Zoë' } });
    const { subject } = (await server.send('whoami')).body;
    const { body } = await server.send('whoami', { as: bearer(token) });
    expect(body).toMatchObject({
      subject,
      kind: 'automation_client',
      session_id: id,
      end_user: 'Zoë',
      tenant_id: server.quickstart.tenant_id,
      scopes: [...usualSessionTokenScopes],
    });
    expect(
      (await server.send('whoami', { as: { ...server.client, ...bearer(token) } })).status,
    ).toBe(200);
    const other = await addTenant(server, 'Other');
    for (const wrong of [
      { 'x-organization-id': 'org_never' },
      { 'x-workspace-tenant-id': other },
      { 'x-tenant-id': other },
    ]) {
      const as = { ...bearer(token), ...wrong };
      expect(await server.refused('whoami', { as })).toMatchObject({ status: 403 });
    }
    const twice = [...Object.entries(server.client), ...Object.entries(server.client)];
    const headers: [string, string][] = [
      ...twice.filter(([name]) => name.startsWith('x-')),
      ...Object.entries(bearer(token)),
    ];
    const repeated = await sendRaw(server, { method: 'GET', path: '/v1/whoami', headers });
    expect(repeated.status).toBe(400);
  });

  test('an answer names the client, and in the audit its user (D-199)', async () => {
    const session = await openSession(server, 'asker');
    const { token } = await tokenFor(session.id, { body: { end_user: 'user-7' } });
    const as = bearer(token);
    const params = { session_id: session.id };
    const { body: run } = await server.send('start_run', {
      as,
      params,
      body: { input: { prompt: 'hi' } },
    });
    const asked = await eventually(
      async () => (await server.send('list_interactions', { as, params })).body.interactions[0],
    );
    const body = { answer: 'red' };
    const answered = await server.send('answer_interaction', { as, params: keyOf(asked), body });
    const { subject: client } = (await server.send('whoami')).body;
    expect(answered.body.answered_by).toBe(client);
    expect(run.created_by).toMatchObject({ kind: 'client', id: client });
    const row = await auditRow(({ object }) => object === asked.interaction_key);
    expect(row).toMatchObject({
      action: 'interaction.answer',
      by: { kind: 'client', id: client },
      details: { session_id: session.id, end_user: 'user-7' },
    });
    const reader = await server.stream(eventsPath(run), { as });
    await reader.until('run_completed');
  });

  test('opens 16 streams, which are none of its client’s (D-200)', async () => {
    const session = await openSession(server, 'sleeper');
    const params = { session_id: session.id };
    const { body: run } = await server.send('start_run', {
      params,
      body: { input: { prompt: 'hi' } },
    });
    const as = bearer((await tokenFor(session.id)).token);
    const open = [];
    for (let count = 0; count < 16; count += 1) {
      open.push(await server.stream(eventsPath(run), { as }));
    }
    const headers = { accept: 'text/event-stream' };
    const refused = await server.refused('follow_run_events', { as, params: at(run), headers });
    expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    open.push(await server.stream(eventsPath(run)));
    for (const reader of open) reader.close();
    await server.send('cancel_run', { params: at(run) });
  });

  describe('ends', () => {
    interface Page {
      readonly client: TestClient;
      readonly tenant: string;
      readonly as: Identity;
    }
    const clientIn = ({ client }: Page) => ({
      organization_id: server.quickstart.organization_id,
      client_id: client.record.id,
    });
    const ways: Record<string, { end: (page: Page) => Promise<unknown>; answers: number }> = {
      'when its client is disabled': {
        end: (page) =>
          server.send('update_client', {
            params: clientIn(page),
            body: { version: 1, status: 'disabled' },
          }),
        answers: 403,
      },
      'when its client is deleted': {
        end: (page) => server.send('delete_client', { params: clientIn(page) }),
        answers: 403,
      },
      // D-385: at the next request, and not at the end of its hour.
      'when its credential is revoked': {
        end: (page) =>
          server.send('revoke_credential', {
            params: { ...clientIn(page), credential_id: page.client.credentialId },
          }),
        answers: 401,
      },
      'when its client loses the scope': {
        end: (page) =>
          server.send('update_client', {
            params: clientIn(page),
            body: { version: 1, profile: 'deploy' },
          }),
        answers: 403,
      },
      'when its tenant is offboarded': {
        end: ({ tenant }) =>
          server.send('offboard_tenant', {
            params: {
              organization_id: server.quickstart.organization_id,
              tenant_id: tenant,
            },
            body: { confirm: tenant },
          }),
        answers: 403,
      },
      'at its time': { end: async () => clock.advance(3_601_000), answers: 401 },
    };

    test.each(Object.entries(ways))('%s, with its open streams', async (_, { end, answers }) => {
      const tenant = await addTenant(server, 'Page');
      const client = await addClient(server);
      const as = client.in(tenant);
      const session = await openSession(server, 'sleeper', { as });
      const params = { session_id: session.id };
      const input = { body: { input: { prompt: 'hi' } } };
      const { body: run } = await server.send('start_run', { as, params, ...input });
      const { token } = await tokenFor(session.id, { as, body: { expires_in_seconds: 3600 } });
      const page = { client, tenant, as: bearer(token) };
      const reader = await server.stream(eventsPath(run), { as: page.as });
      await reader.until('message_delta');
      await end(page);
      const path = eventsPath(run);
      const { status } = await server.call('GET', path, {
        as: page.as,
        headers: { accept: 'application/json' },
      });
      expect(status).toBe(answers);
      await reader.all();
      // An offboarded tenant cancels its runs; no other way may look like the end of the run.
      const rest = reader.types().slice(2);
      expect(rest.filter((type) => type !== 'run_cancelled')).toEqual([]);
    });

    test('with a client that is enabled again', async () => {
      const client = await addClient(server);
      const tenant = server.quickstart.tenant_id;
      const session = await openSession(server, 'echo', { as: client.in(tenant) });
      const { token } = await tokenFor(session.id, { as: client.in(tenant) });
      const page = { client, tenant, as: bearer(token) };
      for (const [version, status] of ['disabled', 'active'].entries()) {
        const body = { version: version + 1, status };
        await server.send('update_client', { params: clientIn(page), body });
      }
      expect(await server.refused('whoami', { as: page.as })).toMatchObject({ status: 401 });
    });
  });
});

test('a token for one session spends a rate of its session, and nothing of its client (D-200)', async () => {
  // Its clock stands: what is spent stays so, however long the calls take.
  const server = await startServer({ clock: new FakeClock() });
  const tokenFor = async (session_id: string) => {
    const params = { session_id };
    return (await server.send('create_session_token', { params })).body.token;
  };
  const statuses = (token: string, times: number) =>
    Promise.all(
      Array.from({ length: times }, async () => {
        const { status } = await server.call('GET', '/v1/whoami', { as: bearer(token) });
        return status;
      }),
    );
  const { id } = await openSession(server, 'echo');
  const [first, second] = [await tokenFor(id), await tokenFor(id)];
  const burst = await statuses(first, limits.sessionRateBurst + 1);
  expect(burst.filter((status) => status === 200)).toHaveLength(limits.sessionRateBurst);
  expect(burst).toContain(429);
  // Another token of the same session has the same bucket.
  expect(await statuses(second, 1)).toEqual([429]);
  expect((await server.send('whoami')).status).toBe(200);
  const neighbour = await tokenFor((await openSession(server, 'echo')).id);
  expect(await statuses(neighbour, 1)).toEqual([200]);
});
