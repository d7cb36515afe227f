import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  clientRecord,
  credentialRecord,
  organizationId,
  tenantRecord,
  userId,
} from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSigningKeys } from '../../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../../src/auth/master-key.ts';
import { createSealing } from '../../../src/auth/sealing.ts';
import { createTokens, longestTokenLifetimeMs } from '../../../src/auth/tokens/tokens.ts';
import type { Role } from '../../../src/ports/repositories/organizations.ts';
import {
  type Answer,
  type CallOptions,
  type TestServer,
  startTestServer,
} from '../../support/bare-server.ts';

let server: TestServer;
let base: string;
let keys = 0;
const key = () => ({ 'idempotency-key': `test-key-${(keys += 1)}` });
const form = { 'content-type': 'application/x-www-form-urlencoded' };

beforeAll(async () => {
  server = await startTestServer({ CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0' });
  base = `/v1/organizations/${server.quickstart.organization_id}`;
});
afterAll(() => server.stop());

const asOwner = (method: string, path: string, options: CallOptions = {}) =>
  server.call(method, base + path, { token: server.quickstart.owner_token, ...options });
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const exchange = (id: string, secret: string, body = 'grant_type=client_credentials') =>
  server.call('POST', '/v1/oauth/token', {
    headers: { ...form, authorization: basic(id, secret) },
    body,
  });
const tokenOf = async (id: string, secret: string): Promise<string> =>
  (await exchange(id, secret)).body.access_token;
const createClient = (change: object = {}, headers: Record<string, string> = key()) =>
  asOwner('POST', '/m2m', { headers, body: { name: 'Backend', profile: 'invoke', ...change } });

/** The status and code of a refusal, after checking the fields that every refusal has. */
function refusalIn(answer: Answer): string {
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return `${answer.status} ${answer.body.error}`;
}

async function person(role: Role, organization: string): Promise<string> {
  const { store, ids, clock } = server.convoke.services;
  const id = userId(ids.next('usr'));
  await store.transaction(async (tx) => {
    const createdAt = clock.now();
    const of = organizationId(organization);
    await tx.organizations.ensureUser({ id, email: `${id}@test`, createdAt });
    await tx.organizations.insertMembership({ organizationId: of, userId: id, role, createdAt });
  });
  return id;
}

describe('the token endpoint (D-50)', () => {
  test('issues a token that whoami describes (D-56)', async () => {
    const { client_id: id, client_secret: secret } = server.quickstart;
    const answer = await exchange(id, secret);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: 600 });
    const whoami = await server.call('GET', '/v1/whoami', {
      token: answer.body.access_token,
      headers: {
        'x-organization-id': server.quickstart.organization_id,
        'x-workspace-tenant-id': server.quickstart.tenant_id,
      },
    });
    expect(whoami.status).toBe(200);
    expect(whoami.body).toMatchObject({
      kind: 'automation_client',
      client_id: id,
      organization_id: server.quickstart.organization_id,
      tenant_id: server.quickstart.tenant_id,
      profile: 'invoke',
      file_attachments_enabled: true,
    });
  });

  test('refuses with the fields of RFC 6749 and our own', async () => {
    const answer = await exchange(server.quickstart.client_id, 'wrong');
    expect(refusalIn(answer)).toBe('401 invalid_client');
    expect(answer.body.error_description).toBe(answer.body.message);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(answer.headers.get('pragma')).toBe('no-cache');
  });

  test('the metadata leads to the keys that signed', async () => {
    const metadata = await server.call('GET', '/.well-known/oauth-authorization-server');
    expect(metadata.body.token_endpoint).toMatch(/\/v1\/oauth\/token$/);
    const jwks = await server.call('GET', '/.well-known/jwks.json');
    expect(jwks.headers.get('cache-control')).toBe('public, max-age=600');
    expect(jwks.body.keys).toHaveLength(1);
    expect(JSON.stringify(jwks.body)).not.toContain('"d"');
  });
});

describe('automation clients (spec §4.3)', () => {
  test('are created with a secret that works and cannot be read again (D-61, D-65)', async () => {
    const headers = key();
    const made = await createClient({ description: 'x', expires_in_days: 1 }, headers);
    expect(made.status).toBe(201);
    clientRecord.parse(made.body.client);
    credentialRecord.parse(made.body.credential);
    expect(made.body.client_id).toBe(made.body.client.client_id);
    await tokenOf(made.body.client_id, made.body.client_secret);
    const again = await createClient({ description: 'x', expires_in_days: 1 }, headers);
    expect(refusalIn(again)).toBe('409 secret_already_issued');
    expect(again.body).toMatchObject({
      client: { id: made.body.client.id },
      client_id: made.body.client_id,
      credential: { id: made.body.credential.id },
    });
    const other = await createClient({ name: 'Other' }, headers);
    expect(refusalIn(other)).toBe('409 idempotency_conflict');
    const read = await asOwner('GET', `/m2m/${made.body.client.id}`);
    expect(read.status).toBe(200);
    const list = await asOwner('GET', '/m2m');
    expect(list.status).toBe(200);
    expect(list.headers.get('cache-control')).toBe('no-store');
    for (const { body } of [again, read, list]) {
      expect(JSON.stringify(body)).not.toContain(made.body.client_secret);
    }
  });

  const malformed: Record<string, [object, string]> = {
    'no name': [{ name: undefined }, 'invalid_body'],
    'empty name': [{ name: '' }, 'invalid_body'],
    'unknown profile': [{ profile: 'root' }, 'invalid_body'],
    'custom without scopes': [{ profile: 'custom' }, 'invalid_body'],
    'scopes without custom': [{ scopes: ['runs:read'] }, 'invalid_body'],
    'unknown scope': [{ profile: 'custom', scopes: ['runs:own'] }, 'invalid_body'],
    'too long a life': [{ expires_in_days: 366 }, 'invalid_body'],
    'no life': [{ expires_in_days: 0 }, 'invalid_body'],
    'an unknown field': [{ secret: 'x' }, 'unknown_field'],
  };
  test.each(Object.keys(malformed))('refuse %s', async (name) => {
    const [change, code] = malformed[name] ?? [{}, ''];
    expect(refusalIn(await createClient(change))).toBe(`400 ${code}`);
  });

  test.each([undefined, 'seven77', 'x'.repeat(257)])('need a proper key, not %s', async (sent) => {
    const headers: Record<string, string> = sent === undefined ? {} : { 'idempotency-key': sent };
    expect(refusalIn(await createClient({}, headers))).toBe('400 invalid_idempotency_key');
  });

  test('change by version, and status alone (D-64)', async () => {
    const { client } = (await createClient()).body;
    const patch = (body: object) => asOwner('PATCH', `/m2m/${client.id}`, { body });
    const renamed = await patch({ version: 1, name: 'Renamed' });
    expect([renamed.status, renamed.body.name, renamed.body.version]).toEqual([200, 'Renamed', 2]);
    expect(refusalIn(await patch({ version: 1, name: 'x' }))).toBe('409 version_conflict');
    const both = await patch({ version: 2, name: 'x', status: 'disabled' });
    expect(refusalIn(both)).toBe('400 status_change_not_combinable');
    // D-52: what is wrong with the request is reported before a missing resource.
    const nowhere = { body: { version: 2, name: 'x', status: 'disabled' } };
    expect(refusalIn(await asOwner('PATCH', '/m2m/cli_unknown', nowhere))).toBe(
      '400 status_change_not_combinable',
    );
    expect(refusalIn(await patch({ version: 2 }))).toBe('400 invalid_body');
    expect(refusalIn(await patch({ name: 'x' }))).toBe('400 invalid_body');
    expect((await asOwner('GET', `/m2m/${client.id}`)).body.client.version).toBe(2);
  });

  test('change their scopes alone where they are custom (D-61)', async () => {
    const scopes = ['runs:read', 'agents:read'];
    const { client } = (await createClient({ profile: 'custom', scopes })).body;
    const patch = (body: object) => asOwner('PATCH', `/m2m/${client.id}`, { body });
    const narrowed = await patch({ version: 1, scopes: ['runs:read'] });
    expect([narrowed.status, narrowed.body.profile]).toEqual([200, 'custom']);
    expect(narrowed.body.scopes).toEqual(['runs:read']);
    expect((await patch({ version: 2, profile: 'observe' })).status).toBe(200);
    const refused = await patch({ version: 3, scopes });
    expect(refusalIn(refused)).toBe('400 invalid_body');
    expect(refused.body.message).toContain('scopes');
    expect(refused.body.message).toContain('send profile: custom');
    expect(refusalIn(await patch({ version: 3, scopes, status: 'disabled' }))).toBe(
      '400 status_change_not_combinable',
    );
    expect((await asOwner('GET', `/m2m/${client.id}`)).body.client.version).toBe(3);
  });

  test('lose access with the next request when disabled, narrowed or deleted (spec §5.7)', async () => {
    const { client, client_id: id, client_secret: secret } = (await createClient()).body;
    const token = await tokenOf(id, secret);
    const headers = {
      'x-organization-id': server.quickstart.organization_id,
      'x-workspace-tenant-id': server.quickstart.tenant_id,
    };
    const start = (shown = token) =>
      server.call('POST', '/v1/sessions', {
        token: shown,
        headers,
        body: { agent_name: 'no-such-agent' },
      });
    const patch = (body: object) => asOwner('PATCH', `/m2m/${client.id}`, { body });
    expect(refusalIn(await start())).toBe('404 agent_not_found');
    await patch({ version: 1, status: 'disabled' });
    expect((await start()).body).toEqual({ error: 'forbidden', request_id: expect.any(String) });
    expect(refusalIn(await exchange(id, secret))).toBe('401 invalid_client');
    await patch({ version: 2, status: 'active' });
    expect(refusalIn(await start())).toBe('401 unauthorized');
    const renewed = await tokenOf(id, secret);
    expect(refusalIn(await start(renewed))).toBe('404 agent_not_found');
    await patch({ version: 3, profile: 'observe' });
    expect(refusalIn(await start(renewed))).toBe('403 insufficient_scope');
    await patch({ version: 4, profile: 'invoke' });
    expect((await asOwner('DELETE', `/m2m/${client.id}`)).status).toBe(204);
    expect(refusalIn(await start(renewed))).toBe('403 forbidden');
    // Spec §3: any state. The first answer may have been lost, so deleting again is no error.
    expect((await asOwner('DELETE', `/m2m/${client.id}`)).status).toBe(204);
    expect(refusalIn(await asOwner('GET', `/m2m/${client.id}`))).toBe('404 not_found');
    expect(refusalIn(await asOwner('DELETE', '/m2m/cli_unknown'))).toBe('404 not_found');
  });

  test('are bound only to tenants of their organization that stay (N-5)', async () => {
    const { tenant_id: tenant } = server.quickstart;
    const headers = key();
    const made = await createClient({ tenant_ids: [tenant] }, headers);
    expect(made.body.client.tenant_ids).toEqual([tenant]);
    expect(refusalIn(await createClient({ tenant_ids: [tenant] }, headers))).toBe(
      '409 secret_already_issued',
    );
    expect(refusalIn(await createClient({}, headers))).toBe('409 idempotency_conflict');
    for (const tenant_ids of [
      [],
      [tenant, tenant],
      [tenant, 'ten_unknown'],
      ['not an id'],
      tenant,
    ]) {
      const refused = await createClient({ tenant_ids });
      expect(refusalIn(refused)).toBe('400 invalid_body');
      expect(refused.body.message).toContain('tenant_ids');
    }
    const renamed = { body: { version: 1, name: 'Renamed' } };
    const { client } = made.body;
    expect((await asOwner('PATCH', `/m2m/${client.id}`, renamed)).body.tenant_ids).toEqual([
      tenant,
    ]);
    const { body } = await asOwner('GET', '/m2m');
    const shown = body.clients.map((one: { tenant_ids?: string[] }) => one.tenant_ids);
    expect(shown).toContainEqual([tenant]);
    expect(shown).toContain(undefined);
    await asOwner('DELETE', `/m2m/${client.id}`);
  });

  test('rotate their secrets without downtime (D-62)', async () => {
    const made = (await createClient()).body;
    const path = `/m2m/${made.client.id}/credentials`;
    const add = (headers = key()) => asOwner('POST', path, { headers, body: { label: 'next' } });
    const headers = key();
    const added = await add(headers);
    expect(added.status).toBe(201);
    expect(Object.keys(added.body).sort()).toEqual(['client_id', 'client_secret', 'credential']);
    expect(refusalIn(await add(headers))).toBe('409 secret_already_issued');
    expect(refusalIn(await add())).toBe('409 credential_limit_reached');
    const [old, fresh] = [made.client_secret, added.body.client_secret];
    const earlier = await tokenOf(made.client_id, old);
    await tokenOf(made.client_id, fresh);
    const revoked = await asOwner('DELETE', `${path}/${made.credential.id}`);
    expect([revoked.status, revoked.body]).toEqual([204, undefined]);
    expect(refusalIn(await exchange(made.client_id, old))).toBe('401 invalid_client');
    await tokenOf(made.client_id, fresh);
    expect((await server.call('GET', '/v1/me/workspaces', { token: earlier })).status).toBe(200);
    const { credentials } = (await asOwner('GET', `/m2m/${made.client.id}`)).body;
    expect(credentials.map((one: { status: string }) => one.status)).toEqual(['active', 'revoked']);
    const noLabel = await asOwner('POST', path, { headers: key(), body: { label: '' } });
    expect(refusalIn(noLabel)).toBe('400 invalid_body');
    expect(refusalIn(await asOwner('DELETE', `${path}/cred_unknown`))).toBe('404 not_found');
  });

  test('the profiles are a catalog with a version (D-66)', async () => {
    const { body } = await asOwner('GET', '/m2m/profiles');
    expect(body.catalog_version).toBe(2);
    expect(body.profiles.map((profile: { name: string }) => profile.name)).toEqual([
      'observe',
      'invoke',
      'deploy',
      'custom',
    ]);
    const writing = body.scopes.find((scope: { name: string }) => scope.name === 'runs:write');
    expect(writing.operations).toContain('start_run');
  });
});

describe('who may manage (D-55)', () => {
  const paths = ['/m2m', '/m2m/profiles', '/m2m/cli_x', '/tenants', '/tenants/ten_x'];

  test('no caller without a token, no client, no member, no stranger', async () => {
    const { client_id: id, client_secret: secret } = server.quickstart;
    const machine = await tokenOf(id, secret);
    const away = server.convoke.services.ids.next('org');
    await server.convoke.services.store.transaction((tx) =>
      tx.organizations.insert({ id: organizationId(away), name: 'Away', createdAt: 1 }),
    );
    const member = await person('member', server.quickstart.organization_id);
    const stranger = await person('owner', away);
    const tokens = await Promise.all([member, stranger].map(humanToken));
    for (const path of paths) {
      expect(refusalIn(await server.call('GET', base + path))).toBe('401 unauthorized');
      for (const token of [machine, ...tokens]) {
        const answer = await server.call('GET', base + path, { token });
        expect(answer.body).toEqual({ error: 'forbidden', request_id: expect.any(String) });
        expect(answer.status).toBe(403);
      }
    }
  });

  test('a person is refused on the application API, and may list workspaces', async () => {
    const token = server.quickstart.owner_token;
    const headers = {
      'x-organization-id': server.quickstart.organization_id,
      'x-workspace-tenant-id': server.quickstart.tenant_id,
    };
    const agents = await server.call('GET', '/v1/agents', { token, headers });
    expect([agents.status, agents.body.error]).toEqual([403, 'forbidden']);
    const { body } = await server.call('GET', '/v1/me/workspaces', { token });
    expect(body.workspaces).toContainEqual({
      id: expect.stringMatching(/^ws_/),
      organization_id: server.quickstart.organization_id,
      organization_name: 'Quickstart',
      tenant: {
        tenant_id: server.quickstart.tenant_id,
        display_name: 'Quickstart',
        status: 'active',
        attachment_state: 'ready',
      },
    });
  });
});

/** Creates one as an operator's command does: from the data folder, beside the running server. */
async function humanToken(person: string): Promise<string> {
  const { store, clock, ids } = server.convoke.services;
  const master = await loadMasterKey({ path: join(server.dataDir, 'master.key'), isGiven: false });
  const sealing = createSealing(deriveKey(master, 'signing-keys'));
  const longestLifetimeMs = longestTokenLifetimeMs;
  const signing = await openSigningKeys({ store, clock, sealing, longestLifetimeMs });
  const { baseUrl } = server.convoke;
  const tokens = createTokens({ keys: signing, clock, ids, baseUrl });
  return (await tokens.issueForPerson(userId(person))).token;
}

describe('tenants (D-67)', () => {
  test('are provisioned, accessible, offboarded, and then gone', async () => {
    const headers = key();
    const create = (change: object = {}) =>
      asOwner('POST', '/tenants', {
        headers,
        body: { display_name: 'Acme', mode: 'saas', ...change },
      });
    const made = await create();
    expect(made.status).toBe(202);
    tenantRecord.parse(made.body);
    expect(made.body).toMatchObject({ status: 'provisioning', attachment_state: 'pending' });
    const again = await create();
    expect([again.status, again.body.id]).toEqual([202, made.body.id]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(refusalIn(await create({ display_name: 'Other' }))).toBe('409 idempotency_conflict');

    const path = `/tenants/${made.body.id}`;
    const statusOf = async () => (await asOwner('GET', path)).body.status;
    await expect.poll(statusOf).toBe('active');
    expect(refusalIn(await asOwner('POST', `${path}:retry`))).toBe('409 tenant_not_retryable');

    const { client_id: id, client_secret: secret } = server.quickstart;
    const token = await tokenOf(id, secret);
    const agents = () =>
      server.call('GET', '/v1/agents', {
        token,
        headers: {
          'x-organization-id': server.quickstart.organization_id,
          'x-tenant-id': made.body.id,
        },
      });
    expect((await agents()).status).toBe(200);
    const offboard = (confirm: string) =>
      asOwner('POST', `${path}:offboard`, { body: { confirm } });
    expect(refusalIn(await offboard('Acme'))).toBe('400 confirmation_mismatch');
    expect((await agents()).status).toBe(200);
    const leaving = await offboard(made.body.id);
    expect([leaving.status, leaving.body.attachment_state]).toEqual([202, 'detached']);
    expect(refusalIn(await agents())).toBe('403 forbidden');
    await expect.poll(statusOf).toBe('offboarded');
  });

  test('refuse an unknown mode and an unknown id', async () => {
    const body = { display_name: 'Acme', mode: 'dedicated' };
    const refused = await asOwner('POST', '/tenants', { headers: key(), body });
    expect(refusalIn(refused)).toBe('400 unsupported_mode');
    expect(refusalIn(await asOwner('GET', '/tenants/ten_unknown'))).toBe('404 not_found');
    expect(refusalIn(await asOwner('POST', '/tenants/ten_unknown:retry'))).toBe('404 not_found');
  });

  test('are listed page by page, with cursors that cannot be forged', async () => {
    for (let index = 0; index < 3; index += 1) {
      const body = { display_name: `Page ${index}`, mode: 'saas' };
      await asOwner('POST', '/tenants', { headers: key(), body });
    }
    const first = await asOwner('GET', '/tenants?limit=2');
    expect(first.body.tenants).toHaveLength(2);
    const cursor: string = first.body.next_cursor;
    const second = await asOwner('GET', `/tenants?limit=2&cursor=${cursor}`);
    const ids = [...first.body.tenants, ...second.body.tenants].map(
      (one: { id: string }) => one.id,
    );
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect(new Set(ids).size).toBe(ids.length);
    expect(refusalIn(await asOwner('GET', `/tenants?cursor=${cursor}&order=asc`))).toBe(
      '400 invalid_cursor',
    );
    expect(refusalIn(await asOwner('GET', `/m2m?cursor=${cursor}`))).toBe('400 invalid_cursor');
  });
});

describe('no request succeeds after a revocation was answered (spec §5.7)', () => {
  const withdrawals: Record<string, (client: string, tenant: string) => Promise<Answer>> = {
    'client disabled': (client) =>
      asOwner('PATCH', `/m2m/${client}`, { body: { version: 1, status: 'disabled' } }),
    'client deleted': (client) => asOwner('DELETE', `/m2m/${client}`),
    'scope removed': (client) =>
      asOwner('PATCH', `/m2m/${client}`, { body: { version: 1, profile: 'deploy' } }),
    'tenant offboarded': (_, tenant) =>
      asOwner('POST', `/tenants/${tenant}:offboard`, { body: { confirm: tenant } }),
  };

  test.each(Object.keys(withdrawals))('%s, under eight threads with old tokens', async (name) => {
    const made = (await createClient()).body;
    const body = { display_name: 'Load', mode: 'saas' };
    const tenant = (await asOwner('POST', '/tenants', { headers: key(), body })).body.id;
    const isActive = async () => (await asOwner('GET', `/tenants/${tenant}`)).body.status;
    await expect.poll(isActive).toBe('active');
    const token = await tokenOf(made.client_id, made.client_secret);
    const headers = {
      'x-organization-id': server.quickstart.organization_id,
      'x-workspace-tenant-id': tenant,
    };
    let answeredAt = Number.POSITIVE_INFINITY;
    let successes = 0;
    const late: number[] = [];
    const refusals = new Set<number>();
    async function thread(): Promise<void> {
      for (let after = 0; after < 20; ) {
        const startedAt = performance.now();
        const { status } = await server.call('GET', '/v1/sessions', { token, headers });
        if (status !== 200) refusals.add(status);
        else if (startedAt > answeredAt) late.push(startedAt - answeredAt);
        else successes += 1;
        if (startedAt > answeredAt) after += 1;
      }
    }
    const threads = Array.from({ length: 8 }, thread);
    await expect.poll(() => successes).toBeGreaterThan(20);
    const withdrawn = await withdrawals[name]?.(made.client.id, tenant);
    answeredAt = performance.now();
    expect(withdrawn?.status).toBeLessThan(300);
    await Promise.all(threads);
    expect(late).toEqual([]);
    expect([...refusals]).toEqual([403]);
  });
});

test('one person’s changes are limited, another’s are not (D-68)', async () => {
  const strict = await startTestServer({ CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '3' });
  try {
    const path = `/v1/organizations/${strict.quickstart.organization_id}/m2m`;
    const token = strict.quickstart.owner_token;
    const remove = () => strict.call('DELETE', `${path}/cli_unknown`, { token });
    const first = await remove();
    expect(first.status).toBe(404);
    expect(first.headers.get('ratelimit-limit')).toBe('1');
    const second = await remove();
    expect(refusalIn(second)).toBe('429 rate_limited');
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await strict.call('GET', path, { token })).status).toBe(200);
  } finally {
    await strict.stop();
  }
});

test('no secret and no token is in the database, its log, or the server’s log (D-65)', async () => {
  const made = (await createClient()).body;
  const token = await tokenOf(made.client_id, made.client_secret);
  await exchange(made.client_id, `${made.client_secret}x`);
  const names = readdirSync(server.dataDir, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile() && entry.name !== 'quickstart.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const kept = [...files, Buffer.from(server.logged.join('\n'))];
  expect(kept.some((bytes) => bytes.includes(made.client_id))).toBe(true);
  for (const secret of [made.client_secret.slice(4, 47), token, token.split('.')[2] ?? token]) {
    expect(kept.some((bytes) => bytes.includes(secret))).toBe(false);
  }
});
