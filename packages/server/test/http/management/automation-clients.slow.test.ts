import { clientRecord, credentialRecord } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type TestServer, startTestServer } from '../../support/bare-server.ts';
import { key, ownerCalls, refusalIn } from './owner-calls.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0' });
});
afterAll(() => server.stop());
const { asOwner, exchange, tokenOf, createClient } = ownerCalls(() => server);

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

  test('are bound only to tenants of their organization that stay', async () => {
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
    expect(body.catalog_version).toBe(4);
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
