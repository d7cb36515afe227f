import { type MemberRole, type UserId, organizationId, profiles } from '@convoke/contract';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { StorageUnavailable } from '../../../src/ports/errors.ts';
import { FakeClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { addOrganization, addTenant, tokensOf } from '../../support/identities.ts';
import { type TestServer, bearer, requestToken, startServer } from '../../support/server.ts';
import {
  type ExchangeFields,
  accessTokenType,
  addMember,
  asPerson,
  askExchange,
  exchange,
  exchangeGrant,
  resourceOf,
  signInToken,
} from '../../support/sign-in/console.ts';

const withoutId = (text: string) => text.replace(/"request_id":"[^"]*"/, '');

describe.each(databaseKinds)('a person’s token for one tenant, on %s', (database) => {
  let server: TestServer;
  let person: UserId;
  let signIn: string;
  beforeAll(async () => {
    server = await startServer({ database });
    person = await addMember(server, 'operator');
    signIn = await signInToken(server, person);
  });

  test('names the person, the console, the organization and the tenant, for ten minutes (D-152)', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const issued = await exchange(server, signIn);
    const { iat = 0, exp = 0, ...claims } = decodeJwt(issued.access_token);
    expect(claims).toEqual({
      iss: server.baseUrl,
      aud: server.baseUrl,
      sub: person,
      act: { sub: 'convoke-console' },
      client_id: 'convoke-console',
      org: organization_id,
      tenant: tenant_id,
      scope: profiles.invoke.join(' '),
      jti: expect.stringMatching(/^tok_/),
      iat_ms: expect.any(Number),
    });
    expect(exp - iat).toBeLessThanOrEqual(600);
    expect(issued).toMatchObject({
      issued_token_type: accessTokenType,
      token_type: 'Bearer',
      expires_in: exp - iat,
      scope: profiles.invoke.join(' '),
    });
  });

  test('ends no later than the token it is exchanged for (D-152)', async () => {
    const short = await signInToken(server, person, { seconds: 90 });
    const { access_token, expires_in } = await exchange(server, short);
    expect(expires_in).toBeLessThanOrEqual(90);
    expect(decodeJwt(access_token).exp).toBe(decodeJwt(short).exp);
  });

  const granted: readonly [MemberRole, readonly string[]][] = [
    ['owner', profiles.invoke],
    ['admin', profiles.invoke],
    ['operator', profiles.invoke],
    ['viewer', profiles.observe],
  ];
  test.each(granted)('of an %s has the scopes of the role (D-153)', async (role, scopes) => {
    const id = await addMember(server, role);
    const as = await asPerson(server, id);
    const { body } = await server.send('whoami', { as });
    expect(body).toEqual({
      subject: id,
      kind: 'person',
      role,
      organization_id: server.quickstart.organization_id,
      tenant_id: server.quickstart.tenant_id,
      scopes,
      file_attachments_enabled: true,
      expires_at: expect.any(String),
    });
  });

  test('can have fewer scopes than the role, never more (D-151)', async () => {
    const { scope } = await exchange(server, signIn, { scope: 'runs:read agents:read' });
    expect(scope).toBe('agents:read runs:read');
    const viewer = await signInToken(server, await addMember(server, 'viewer'));
    for (const [token, asked] of [
      [viewer, 'runs:read runs:write'],
      [signIn, 'agents:deploy'],
      [signIn, 'everything'],
    ] as const) {
      const refused = await askExchange(server, token, { change: { scope: asked } });
      expect([refused.status, JSON.parse(refused.text).error]).toEqual([400, 'invalid_scope']);
    }
  });

  test('is refused for every other kind of subject token, with the same bytes (D-151)', async () => {
    const { client_id, client_secret } = server.quickstart;
    const tokens = await tokensOf(server);
    const stranger = await addMember(server, 'owner');
    const subjects = {
      garbage: 'x.y.z',
      'of the command line': await signInToken(server, stranger, { program: 'convoke-cli' }),
      'of an operator': (await tokens.issueForPerson(stranger)).token,
      'exchanged already': (await exchange(server, signIn)).access_token,
      'of a client': await requestToken(server.baseUrl, { client_id, client_secret }),
      expired: await signInToken(server, stranger, { seconds: -1 }),
    };
    const answers = new Set<string>();
    for (const subject of Object.values(subjects)) {
      const { status, text } = await askExchange(server, subject);
      answers.add(`${status} ${withoutId(text)}`);
    }
    expect([...answers]).toEqual([expect.stringMatching(/^400 \{"error":"invalid_request"/)]);
  });

  test('is refused for every tenant the person cannot use, with the same bytes (D-151)', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const other = await addOrganization(server, 'Other');
    const theirs = await addTenant(server, 'Theirs', other);
    const gone = await addTenant(server, 'Gone');
    await server.send('offboard_tenant', {
      params: { organization_id, tenant_id: gone },
      body: { confirm: gone },
    });
    const at = (organization: string, tenant: string) =>
      resourceOf(server, { organization_id: organization, tenant_id: tenant });
    const resources = [
      at(organization_id, 'ten_never'),
      at(organization_id, theirs),
      at(organization_id, gone),
      at(other.organization_id, theirs),
      at(other.organization_id, tenant_id),
      at('org_never', tenant_id),
      at(organization_id, ''),
      at(organization_id, '%2e'),
      `${at(organization_id, tenant_id)}/`,
      `${at(organization_id, tenant_id)}?x`,
      `https://elsewhere.example/v1/organizations/${organization_id}/tenants/${tenant_id}`,
      server.baseUrl,
      'x',
    ];
    const answers = new Set<string>();
    const ask = async (token: string, resource: string) => {
      const { status, text } = await askExchange(server, token, { change: { resource } });
      answers.add(`${status} ${withoutId(text)}`);
    };
    for (const resource of resources) await ask(signIn, resource);
    const member = await signInToken(server, await addMember(server, 'member'));
    await ask(member, at(organization_id, tenant_id));
    expect([...answers]).toEqual([expect.stringMatching(/^400 \{"error":"invalid_target"/)]);
  });

  const malformed: Readonly<Record<string, ExchangeFields>> = {
    'without a subject token': { subject_token: undefined },
    'without the type of the subject token': { subject_token_type: undefined },
    'with an ID token': { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
    'for a refresh token': {
      requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
    },
    'without a resource': { resource: undefined },
  };
  test.each(Object.keys(malformed))('is refused %s', async (name) => {
    const { status, text } = await askExchange(server, signIn, { change: malformed[name] ?? {} });
    expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request']);
  });

  test('is refused to any other program, and to one with a secret', async () => {
    const { client_id, client_secret } = server.quickstart;
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    for (const sent of [
      { change: { client_id: 'convoke-cli' } },
      { change: { client_id: undefined } },
      { change: { client_id, client_secret } },
      { change: { client_secret: 'x' } },
      { headers: { authorization: `Basic ${basic}` } },
    ]) {
      const { status, text } = await askExchange(server, signIn, sent);
      expect([status, JSON.parse(text).error]).toEqual([401, 'invalid_client']);
    }
  });

  test('is in the audit before it is shown: the person, the tenant, the scopes (D-155)', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const { access_token } = await exchange(server, signIn, { scope: 'runs:read' });
    const { jti, exp = 0 } = decodeJwt(access_token);
    const { store } = server.convoke.services;
    const chain = organizationId(organization_id);
    const [row] = await listAudit({ store }, { chain, limit: 1 });
    expect(row).toMatchObject({
      action: 'token.exchange',
      object: jti,
      by: { kind: 'user', id: person, address: '127.0.0.1', requestId: expect.any(String) },
      details: {
        tenant_id,
        scope: 'runs:read',
        client: 'convoke-console',
        expires_at: exp * 1000,
      },
    });
  });

  test('signing in alone opens nothing of a tenant, and a tenant’s token manages nothing (D-55)', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const owner = await addMember(server, 'owner');
    const token = await signInToken(server, owner);
    const selectors = { 'x-organization-id': organization_id, 'x-workspace-tenant-id': tenant_id };
    for (const id of ['list_agents', 'whoami'] as const) {
      const refused = await server.refused(id, { as: { ...bearer(token), ...selectors } });
      expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    }
    const params = { organization_id };
    expect((await server.send('list_clients', { as: bearer(token), params })).status).toBe(200);
    const as = await asPerson(server, owner);
    expect(await server.refused('list_clients', { as, params })).toMatchObject({ status: 403 });
  });

  test('lists its own tenant only', async () => {
    const second = await addTenant(server, 'Second');
    const list = async (as: Readonly<Record<string, string>>) =>
      (await server.send('list_workspaces', { as })).body.workspaces.map(
        ({ tenant }) => tenant.tenant_id,
      );
    expect(await list(bearer(signIn))).toContain(second);
    expect(await list(await asPerson(server, person))).toEqual([server.quickstart.tenant_id]);
  });
});

test('there is no token without its audit row (D-155)', async () => {
  let isFull = false;
  const server = await startServer({
    expectsFaults: true,
    wrapStore: (store) => ({
      ...store,
      get read() {
        return store.read;
      },
      inTenantScope: (tenant, work) => store.inTenantScope(tenant, work),
      transaction: (work) =>
        isFull ? Promise.reject(new StorageUnavailable('full')) : store.transaction(work),
    }),
  });
  const signIn = await signInToken(server, await addMember(server, 'operator'));
  isFull = true;
  const { status, text } = await askExchange(server, signIn);
  isFull = false;
  expect([status, JSON.parse(text).error]).toEqual([503, 'storage_unavailable']);
  expect(text).not.toContain('eyJ');
});

test('one person gets sixty tokens a minute from one address, and others are not held back (D-151)', async () => {
  const server = await startServer({ clock: new FakeClock() });
  const [one, other] = [await addMember(server, 'viewer'), await addMember(server, 'viewer')];
  const signIn = await signInToken(server, one);
  const statuses = new Map<number, number>();
  for (let asked = 0; asked < 61; asked += 1) {
    const { status } = await askExchange(server, signIn);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(statuses)).toEqual({ 200: 60, 429: 1 });
  const refused = await askExchange(server, signIn);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await askExchange(server, await signInToken(server, other))).status).toBe(200);
});

describe('CONVOKE_CONSOLE=off', () => {
  test('removes the client and the grant', async () => {
    const server = await startServer({ env: { CONVOKE_CONSOLE: 'off' } });
    const signIn = await signInToken(server, await addMember(server, 'owner'));
    const { status, text } = await askExchange(server, signIn);
    expect([status, JSON.parse(text).error]).toEqual([400, 'unsupported_grant_type']);
    const { body } = await server.send('get_metadata');
    expect(body.grant_types_supported).not.toContain(exchangeGrant);
    const page = await fetch(`${server.baseUrl}/oidc/auth?client_id=convoke-console`);
    const unknown = expect.stringContaining('Unknown assistant');
    expect([page.status, await page.text()]).toEqual([400, unknown]);
  });

  test('is not the default: the metadata names the grant', async () => {
    const server = await startServer();
    const { body } = await server.send('get_metadata');
    expect(body.grant_types_supported).toContain(exchangeGrant);
    expect(body.token_endpoint_auth_methods_supported).toContain('none');
  });
});
