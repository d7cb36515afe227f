import { generateKeyPairSync } from 'node:crypto';
import {
  type Operation,
  type OperationId,
  type Scope,
  operations,
  profiles,
  requiredScopes,
} from '@convoke/contract';
import { SignJWT, decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  type Identity,
  type OperationCall,
  anonymous,
  pathOf,
} from '../support/checked-calls.ts';
import { FakeClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addPerson, addTenant, tokensOf } from '../support/identities.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, bearer, selecting, startServer } from '../support/server.ts';
import { changedTables, restingDigests } from '../support/table-digests.ts';
import { type TenantData, fillTenant, tenantDataAgents } from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

const ids = Object.keys(operations) as OperationId[];
const of = (...callers: Operation['caller'][]) =>
  ids.filter((id) => callers.includes(operations[id].caller));

let server: TestServer;
let here: TenantData;
const calls = new Map<OperationId, OperationCall>();
const callers = new Map<string, Identity>();
/** Every byte that callers without access to this tenant received. */
const received: string[] = [];
let tables: Record<string, string>;

beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  here = await fillTenant(server, 'canaryhere');
  for (const id of ids) calls.set(id, await validCalls[id](server, here));
  for (const [name, identity] of await strangers()) callers.set(name, identity);
  tables = await restingDigests(server);
});

/** All callers that an operation must refuse. */
async function strangers(): Promise<[string, Identity][]> {
  const { as } = here;
  const { authorization = '', ...selectors } = as;
  const right = authorization.replace('Bearer ', '');
  const own = here.organization;
  const other = await fillTenant(server, 'canarythere');
  const params = { organization_id: own.organization_id };
  const disabled = await addClient(server, {}, own);
  await server.send('update_client', {
    as: own.owner,
    params: { ...params, client_id: disabled.record.id },
    body: { version: 1, status: 'disabled' },
  });
  const deleted = await addClient(server, {}, own);
  await server.send('delete_client', {
    as: own.owner,
    params: { ...params, client_id: deleted.record.id },
  });
  const powerless = await addClient(server, { profile: 'custom', scopes: ['agents:deploy'] }, own);
  const leaving = await addTenant(server, 'Leaving', own);
  await server.send('offboard_tenant', {
    as: own.owner,
    params: { ...params, tenant_id: leaving },
    body: { confirm: leaving },
  });
  await eventually(async () => {
    const { body } = await server.send('get_tenant', {
      as: own.owner,
      params: { ...params, tenant_id: leaving },
    });
    return body.status === 'offboarded';
  });
  const past = new FakeClock(Date.now() - 3_600_000);
  const { clients } = server.convoke.services.store.read;
  const client = await clients.findByOAuthId(here.client.client_id);
  if (client === undefined) throw new Error('no client');
  const expired = await (await tokensOf(server, past)).issueForClient(client, client.scopes);
  const choose = (organization_id: string, tenant_id: string, token = right) =>
    selecting({ organization_id, tenant_id }, token);
  return [
    ['no token', selectors],
    ['garbage', { ...selectors, ...bearer('garbage') }],
    ['garbage of three parts', { ...selectors, ...bearer('a.b.c') }],
    ['an expired token', { ...selectors, ...bearer(expired.token) }],
    ['a token signed by a stranger', { ...selectors, ...bearer(await forged(right)) }],
    ['an unsigned token', { ...selectors, ...bearer(unsigned(right)) }],
    ['a token that was edited', { ...selectors, ...bearer(edited(right)) }],
    ['a person', { ...selectors, ...own.owner }],
    ['a machine', as],
    ['a member', await addPerson(server, own.organization_id, 'member')],
    ['the owner of another organization', other.organization.owner],
    ['the client of another organization', { ...selectors, ...bearerOf(other.as) }],
    ['another organization’s tenant', choose(own.organization_id, other.tenantId)],
    ['another organization and its tenant', choose(other.ids.organization_id, other.tenantId)],
    ['another organization, own tenant', choose(other.ids.organization_id, here.tenantId)],
    ['a tenant that never was', choose(own.organization_id, 'ten_never')],
    ['a tenant that is gone', choose(own.organization_id, leaving)],
    ['a disabled client', disabled.in(here.tenantId)],
    ['a deleted client', deleted.in(here.tenantId)],
    ['a client without scopes', powerless.in(here.tenantId)],
  ];
}

const bearerOf = ({ authorization = '' }: Identity): Identity => ({ authorization });

/** The same claims under the same key id, signed with another key. */
async function forged(token: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { kid = '' } = decodeProtectedHeader(token);
  return new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
    .sign(privateKey);
}

function unsigned(token: string): string {
  const [header = '', payload = ''] = token.split('.');
  const open = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg: 'none' };
  return `${Buffer.from(JSON.stringify(open)).toString('base64url')}.${payload}.`;
}

function edited(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), exp: 4e9 };
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
}

const callOf = (id: OperationId) => calls.get(id) ?? {};
const said = ({ status, text }: Answer) => `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;

async function ask(id: OperationId, as: Identity): Promise<Answer> {
  const call = callOf(id);
  const answer = await server.call(operations[id].method, pathOf(id, call), { ...call, as });
  received.push(answer.text);
  return answer;
}

const unauthorized = '401 {"error":"unauthorized",}';
const forbidden = '403 {"error":"forbidden",}';
const withoutToken = [
  'no token',
  'garbage',
  'garbage of three parts',
  'an expired token',
  'a token signed by a stranger',
  'an unsigned token',
  'a token that was edited',
];
const withoutReach = [
  'the client of another organization',
  'another organization’s tenant',
  'another organization and its tenant',
  'another organization, own tenant',
  'a tenant that never was',
  'a tenant that is gone',
  'a disabled client',
  'a deleted client',
];

describe('the application API, operation by operation (D-52, D-55)', () => {
  test.each(of('automation'))('%s: without a valid token, 401 with the code only', async (id) => {
    for (const name of withoutToken) {
      const answer = await ask(id, callers.get(name) ?? anonymous);
      expect([name, said(answer)]).toEqual([name, unauthorized]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="convoke"/);
    }
  });

  test.each(of('automation'))('%s: without access, or as a person, the same 403', async (id) => {
    for (const name of [...withoutReach, 'a person']) {
      const answer = await ask(id, callers.get(name) ?? anonymous);
      expect([name, said(answer)]).toEqual([name, forbidden]);
    }
  });

  // The path of the others is their selector (D-234).
  const byHeaders = of('automation').filter((id) => !('selectors' in operations[id]));
  test.each(byHeaders)('%s: without both selectors, or with two tenants, 400', async (id) => {
    const { authorization = '', 'x-organization-id': organization = '' } = here.as;
    const tenant = here.tenantId;
    const wrong: [string, Record<string, string>][] = [
      ['missing_selector', {}],
      ['missing_selector', { 'x-organization-id': organization }],
      ['missing_selector', { 'x-workspace-tenant-id': tenant }],
      ['missing_selector', { 'x-organization-id': organization, 'x-tenant-id': '' }],
      ['invalid_selector', { ...selectorsOf(here.as), 'x-tenant-id': tenant }],
      ['invalid_selector', { ...selectorsOf(here.as), 'x-tenant-id': 'ten_other' }],
      ['invalid_selector', { ...selectorsOf(here.as), 'x-organization-id': 'not an id' }],
      ['invalid_selector', { ...selectorsOf(here.as), 'x-workspace-tenant-id': 'x'.repeat(65) }],
    ];
    for (const [error, selectors] of wrong) {
      const answer = await ask(id, { authorization, ...selectors });
      expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, error]);
      // The token is checked first: a caller without one learns nothing about the rest.
      expect((await ask(id, selectors)).status).toBe(401);
    }
  });

  test.each(of('automation'))(
    '%s: a repeated selector is 400, even with equal values',
    async (id) => {
      for (const name of ['x-organization-id', 'x-workspace-tenant-id']) {
        const call = callOf(id);
        const headers = Object.entries({ ...here.as, ...call.headers });
        headers.push([name, here.as[name] ?? '']);
        const { method } = operations[id];
        const { status, text } = await sendRaw(server, { method, path: pathOf(id, call), headers });
        expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_selector']);
      }
    },
  );

  const scoped = of('automation').filter((id) => requiredScopes(operations[id]).length > 0);
  test.each(scoped)('%s: without one of its scopes, 403 insufficient_scope (D-54)', async (id) => {
    const lacking = [callers.get('a client without scopes') ?? anonymous];
    for (const scope of requiredScopes(operations[id])) lacking.push(await tokenWithout(scope));
    for (const as of lacking) {
      const answer = await ask(id, as);
      expect(said(answer)).toBe('403 {"error":"insufficient_scope",}');
      expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    }
  });

  /** A token of the right client, narrowed by one scope. */
  async function tokenWithout(missing: Scope): Promise<Identity> {
    const { client_id, client_secret } = here.client;
    const { body } = await server.send('issue_token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id,
        client_secret,
        scope: profiles.invoke.filter((scope) => scope !== missing).join(' '),
      }).toString(),
    });
    return { ...selectorsOf(here.as), ...bearer(body.access_token) };
  }
});

describe('the management API, operation by operation (spec §4.3, D-55)', () => {
  test.each(of('human'))('%s: without a valid token, 401 with the code only', async (id) => {
    for (const name of withoutToken) {
      const answer = await ask(id, callers.get(name) ?? anonymous);
      expect([name, said(answer)]).toEqual([name, unauthorized]);
    }
  });

  test.each(of('human'))('%s: clients, members and other owners get the same 403', async (id) => {
    for (const name of ['a machine', 'a member', 'the owner of another organization']) {
      const answer = await ask(id, callers.get(name) ?? anonymous);
      expect([name, said(answer)]).toEqual([name, forbidden]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('an unknown organization gets the same 403 as a foreign one', async () => {
    for (const organization_id of ['org_never', 'not an id', 'x'.repeat(100)]) {
      const path = pathOf('list_clients', { params: { organization_id } });
      const answer = await server.call('GET', path, { as: here.organization.owner });
      expect(said(answer)).toBe(forbidden);
    }
  });
});

describe('operations that need only a token, or none', () => {
  test.each(of('any'))('%s: 401 without a token, 403 for a deleted client', async (id) => {
    for (const name of withoutToken) {
      expect(said(await ask(id, callers.get(name) ?? anonymous))).toBe(unauthorized);
    }
    for (const name of ['a disabled client', 'a deleted client']) {
      expect(said(await ask(id, callers.get(name) ?? anonymous))).toBe(forbidden);
    }
  });

  // What these answer is for the person who has the secret, whatever their token.
  const bySecret: OperationId[] = ['read_invitation', 'sign_up', 'receive_callback'];
  const harmless = of('anonymous').filter((id) => !bySecret.includes(id));
  test.each(harmless)('%s: is public, with any token or none', async (id) => {
    for (const name of ['garbage', 'an expired token', 'a machine', 'a disabled client']) {
      // At the token endpoint that header authenticates the client.
      if (id === 'issue_token') continue;
      expect((await ask(id, callers.get(name) ?? anonymous)).status).toBe(200);
    }
    expect(
      (await server.call(operations[id].method, pathOf(id, callOf(id)), callOf(id))).status,
    ).toBe(200);
  });
});

describe('after all these refusals', () => {
  test('nothing in the database has changed', async () => {
    expect(changedTables(tables, await restingDigests(server))).toEqual([]);
  });

  test('no caller received a byte of a tenant without access', () => {
    expect(received.length).toBeGreaterThan(500);
    const leaks = received.filter((text) => text.includes(here.word));
    expect(leaks).toEqual([]);
  });
});

describe('the right caller', () => {
  test.each(ids)('%s: is admitted', async (id) => {
    const { method, responses } = operations[id];
    const call = await validCalls[id](server, here);
    if (id === 'invoke_agent') {
      const reader = await server.stream(pathOf(id, call), { ...call, method });
      await reader.all();
      expect(reader.status).toBe(200);
      return;
    }
    const { status } = await server.call(method, pathOf(id, call), call);
    expect(Object.keys(responses)).toContain(String(status));
  });

  test.each(of('human'))('%s: an admin is admitted like an owner', async (id) => {
    const as = await addPerson(server, here.ids.organization_id, 'admin');
    const call = await validCalls[id](server, here);
    const { status } = await server.call(operations[id].method, pathOf(id, call), { ...call, as });
    expect(status).toBeLessThan(300);
  });
});

function selectorsOf(identity: Identity): Identity {
  return Object.fromEntries(Object.entries(identity).filter(([name]) => name.startsWith('x-')));
}
