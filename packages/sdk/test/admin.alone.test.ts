import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AuthenticationError,
  ConflictError,
  Convoke,
  ConvokeAdmin,
  PermissionError,
  type TenantRecord,
} from '../src/index.ts';
import { type Answer, answering, inTurn, json, noAnswer, refusal } from './answering.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
let admin: ConvokeAdmin;
beforeAll(async () => {
  server = await startConvoke();
  const { owner_token: token, organization_id: organizationId } = server.quickstart;
  admin = new ConvokeAdmin({ baseUrl: server.baseUrl, token: () => token, organizationId });
});
afterAll(() => server[Symbol.asyncDispose]());

describe('an owner', () => {
  test('creates a client that works immediately, updates it, and revokes its access', async () => {
    const issued = await admin.clients.create({ name: 'Nightly', profile: 'observe' });
    const convoke = clientFor(issued.client_id, issued.client_secret);
    expect(await convoke.whoami()).toMatchObject({ profile: 'observe' });
    await expect(convoke.sessions.create('echo')).rejects.toMatchObject({
      name: 'PermissionError',
      code: 'insufficient_scope',
    });

    const { client, credentials } = await admin.clients.get(issued.client.id);
    expect(credentials).toHaveLength(1);
    const invoking = await admin.clients.update(client.id, { version: 1, profile: 'invoke' });
    expect(invoking).toMatchObject({ version: 2, profile: 'invoke' });
    const stale = admin.clients.update(client.id, { version: 1, name: 'Late' });
    await expect(stale).rejects.toMatchObject({ code: 'version_conflict' });

    await admin.clients.update(client.id, { version: 2, status: 'disabled' });
    await expect(convoke.whoami()).rejects.toBeInstanceOf(PermissionError);
    await admin.clients.delete(client.id);
    const listed: string[] = [];
    for await (const { id } of admin.clients.list()) listed.push(id);
    expect(listed).not.toContain(client.id);
  });

  test('rotates a secret', async () => {
    const issued = await admin.clients.create({
      name: 'Rotated',
      profile: 'custom',
      scopes: ['agents:read'],
      expires_in_days: 1,
    });
    const { id } = issued.client;
    const second = await admin.credentials.add(id, { label: 'autumn' });
    expect(second.client_id).toBe(issued.client_id);
    const third = admin.credentials.add(id, { label: 'winter' });
    await expect(third).rejects.toMatchObject({ code: 'credential_limit_reached' });
    await admin.credentials.revoke(id, issued.credential.id);
    const old = clientFor(issued.client_id, issued.client_secret).whoami();
    await expect(old).rejects.toBeInstanceOf(AuthenticationError);
    await expect(clientFor(second.client_id, second.client_secret).whoami()).resolves.toBeDefined();
  });

  test('uses keys of any alphabet (spec §8)', async () => {
    const request = { name: 'Once', profile: 'observe' } as const;
    const options = { idempotencyKey: 'ключ-для-клиента' };
    const { client } = await admin.clients.create(request, options);
    const again = admin.clients.create(request, options);
    await expect(again).rejects.toMatchObject({ code: 'secret_already_issued' });
    await admin.clients.delete(client.id);
  });

  test('reads the profiles and scopes', async () => {
    const { profiles } = await admin.clients.profiles();
    expect(profiles.map(({ name }) => name)).toEqual(['observe', 'invoke', 'deploy', 'custom']);
  });

  test('creates a tenant that the clients can access, and offboards it', async () => {
    const made = await admin.tenants.create({ display_name: 'Acme Europe', mode: 'saas' });
    const isUsable = ({ status, attachment_state }: TenantRecord) =>
      status === 'active' && attachment_state === 'ready';
    await expect.poll(async () => isUsable(await admin.tenants.get(made.id))).toBe(true);
    const retried = admin.tenants.retry(made.id);
    await expect(retried).rejects.toMatchObject({ code: 'tenant_not_retryable' });

    const convoke = new Convoke(clientOf(server));
    await expect(convoke.whoami()).rejects.toMatchObject({ code: 'ambiguous_workspace' });
    const there = convoke.in({ tenantId: made.id });
    expect(await there.whoami()).toMatchObject({ tenant_id: made.id });

    const unsure = admin.tenants.offboard(made.id, { confirm: 'ten_other' });
    await expect(unsure).rejects.toMatchObject({ code: 'confirmation_mismatch' });
    await admin.tenants.offboard(made.id, { confirm: made.id });
    await expect(there.whoami()).rejects.toBeInstanceOf(PermissionError);
    const { items } = await admin.tenants.list().page();
    expect(items.map(({ id }) => id)).toContain(made.id);
    await expect.poll(async () => (await admin.workspaces().page()).items.length).toBe(1);
  });

  test('cannot act as an automation client, nor the other way round (D-55)', async () => {
    const { owner_token, organization_id } = server.quickstart;
    const person = new Convoke({
      baseUrl: server.baseUrl,
      token: owner_token,
      workspace: { organizationId: organization_id, tenantId: server.quickstart.tenant_id },
    });
    await expect(person.whoami()).rejects.toBeInstanceOf(PermissionError);
  });
});

describe('issuing a secret', () => {
  const issued = { client_id: 'oac_1', client_secret: 'cvk_once' };

  test('is retried with the same key, in a header (spec §4.3)', async () => {
    await using flaky = await answering(inTurn(noAnswer, json(201, issued)));
    const made = await adminAt(flaky).clients.create({ name: 'Nightly', profile: 'invoke' });
    expect(made.client_secret).toBe('cvk_once');
    const keys = flaky.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test('whose response was lost names the client (D-63)', async () => {
    const already: Answer = json(409, {
      error: 'secret_already_issued',
      client: { id: 'cli_1' },
      credential: { id: 'cred_1' },
      request_id: 'req_1',
    });
    await using flaky = await answering(inTurn(noAnswer, already));
    const create = adminAt(flaky).clients.create({ name: 'Nightly', profile: 'invoke' });
    const error = await create.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ unsure: true, body: { client: { id: 'cli_1' } } });
  });

  test('an update of a client is not retried when its result is unknown', async () => {
    await using flaky = await answering(refusal(503, 'storage_unavailable'));
    const change = adminAt(flaky).clients.update('cli_1', { version: 1, name: 'New' });
    await expect(change).rejects.toMatchObject({ attempts: 1 });
    expect(flaky.seen).toHaveLength(1);
  });
});

function clientFor(clientId: string, clientSecret: string): Convoke {
  const { organization_id: organizationId, tenant_id: tenantId } = server.quickstart;
  const workspace = { organizationId, tenantId };
  return new Convoke({ baseUrl: server.baseUrl, clientId, clientSecret, workspace });
}

function adminAt({ baseUrl }: { readonly baseUrl: string }): ConvokeAdmin {
  const retry = { baseMs: 1, maxMs: 2 };
  return new ConvokeAdmin({ baseUrl, token: 'a-token', organizationId: 'org_1', retry });
}
