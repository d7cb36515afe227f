import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { organizationId, tenantRecord, userId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSigningKeys } from '../../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../../src/auth/master-key.ts';
import { createSealing } from '../../../src/auth/sealing.ts';
import { createTokens, longestTokenLifetimeMs } from '../../../src/auth/tokens/tokens.ts';
import type { Role } from '../../../src/ports/repositories/identity/organizations.ts';
import { type TestServer, startTestServer } from '../../support/bare-server.ts';
import { key, ownerCalls, refusalIn } from './owner-calls.ts';

let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await startTestServer({ CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0' });
  base = `/v1/organizations/${server.quickstart.organization_id}`;
});
afterAll(() => server.stop());
const { asOwner, exchange, tokenOf, createClient } = ownerCalls(() => server);

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
