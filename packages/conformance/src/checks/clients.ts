import { requestToken } from '../caller.ts';
import { type Check, ownerCheck } from '../check.ts';
import { ensure, excerpt, isRecord, same } from '../failure.ts';
import { at, hasMember, integerAt, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { type MadeClient, newKey } from '../owner.ts';
import { type Reply, hasStatus } from '../server.ts';

const profiles = ['observe', 'invoke', 'deploy', 'custom'];

async function newClient(kit: Kit, body?: object): Promise<MadeClient & { path: string }> {
  const client = await kit.owner.makeClient(body);
  return { ...client, path: `m2m/${client.id}` };
}

/** Looks for a member whose name means a secret, because the value may be one that the kit has never seen. */
export function hasNoSecret({ dialect }: Kit, { body, asked }: Reply): void {
  const names = ['client_secret', dialect.credential.secret.split('.').at(-1) ?? ''];
  for (const name of names) ensure(!hasMember(body, name), `${asked} has a member ${name}`);
}

async function versionOf(kit: Kit, path: string): Promise<number> {
  return integerAt(hasStatus(await kit.owner.get(path), 200).body, 'client.version');
}

async function change(kit: Kit, path: string, body: object): Promise<void> {
  const version = await versionOf(kit, path);
  hasStatus(await kit.owner.patch(path, { version, ...body }), 200, 202);
}

async function remove(kit: Kit, path: string): Promise<void> {
  hasStatus(await kit.owner.delete(path), 204, 202);
}

export const clientChecks: readonly Check[] = [
  ownerCheck('4.3-human', 'an automation client is refused', async (kit) => {
    const authorization = `Bearer ${await kit.app.token()}`;
    for (const rest of ['m2m', 'm2m/profiles', 'tenants']) {
      const request = { method: 'GET', path: kit.owner.path(rest), headers: { authorization } };
      hasStatus(await kit.server.send(request), 401, 403);
    }
    const headers = { authorization, 'idempotency-key': newKey() };
    const json = { name: 'Conformance', profile: 'observe' };
    const creating = { method: 'POST', path: kit.owner.path('m2m'), json, headers };
    hasStatus(await kit.server.send(creating), 401, 403);
  }),
  ownerCheck('4.3-no-token', 'a management call without a token answers 401', async (kit) => {
    hasStatus(await kit.server.send({ method: 'GET', path: kit.owner.path('m2m') }), 401);
  }),
  ownerCheck('4.3-no-headers', 'no workspace headers are needed', async (kit) => {
    hasStatus(await kit.owner.get('m2m'), 200);
  }),
  ownerCheck('1-no-store', 'management responses are not to be stored', async (kit) => {
    const { path, created } = await newClient(kit);
    const credential = textAt(created.body, 'credential.id');
    const replies = [
      created,
      await kit.owner.get('m2m'),
      await kit.owner.get('m2m/profiles'),
      await kit.owner.get('tenants'),
      await kit.owner.post('m2m', {}),
      await kit.owner.delete(`${path}/credentials/${credential}`),
      await kit.owner.delete(path),
    ];
    for (const { headers, asked } of replies) {
      const header = headers.get('cache-control') ?? '';
      ensure(header.includes('no-store'), `${asked} has Cache-Control: ${header}`);
    }
  }),
  ownerCheck('4.3-list-clients', 'clients are listed without secrets', async (kit) => {
    const { id, secret, path } = await newClient(kit);
    const reply = hasStatus(await kit.owner.get('m2m'), 200);
    const ids = listAt(reply.body, 'clients').map((client) => textAt(client, 'id'));
    ensure(ids.includes(id), `${id} is not in the list`);
    ensure(!reply.text.includes(secret), 'the list has a secret');
    hasNoSecret(kit, reply);
    await remove(kit, path);
  }),
  ownerCheck('4.3-profiles', 'profiles, scopes and the catalog version are listed', async (kit) => {
    const { body } = hasStatus(await kit.owner.get('m2m/profiles'), 200);
    const names = kit.dialect.profiles;
    const listed = JSON.stringify(at(body, names.profiles));
    for (const profile of profiles.slice(0, 3)) {
      ensure(listed.includes(`"${profile}"`), `${profile} is not in ${excerpt(listed)}`);
    }
    ensure(at(body, names.scopes) !== undefined, `no scopes in ${excerpt(body)}`);
    ensure(at(body, names.version) !== undefined, `no version in ${excerpt(body)}`);
  }),
  ownerCheck('4.3-create-client', 'a client is created with its first secret', async (kit) => {
    const { created, path } = await newClient(kit, { description: 'x' });
    for (const part of ['client', 'credential']) {
      ensure(isRecord(at(created.body, part)), `${part} is to be an object`);
    }
    same(at(created.body, 'client_id'), at(created.body, 'client.client_id'), 'client_id');
    await remove(kit, path);
  }),
  ownerCheck('2-client', 'a client has its fields', async (kit) => {
    const { created, path } = await newClient(kit, { name: 'Named' });
    const client = at(created.body, 'client');
    for (const field of ['id', 'client_id']) textAt(client, field);
    same(at(client, 'name'), 'Named', 'name');
    same(at(client, 'profile'), 'invoke', 'profile');
    same(at(client, 'status'), 'active', 'status');
    integerAt(client, 'version');
    await remove(kit, path);
  }),
  ownerCheck('2-client-ids', 'paths take the record id, not the OAuth client id', async (kit) => {
    const { id, clientId, path } = await newClient(kit);
    ensure(id !== clientId, 'both ids are the same');
    hasStatus(await kit.owner.get(`m2m/${clientId}`), 404, 400);
    await remove(kit, path);
  }),
  ownerCheck('2-client-secret', 'no later response has the secret', async (kit) => {
    const { secret, path } = await newClient(kit);
    for (const rest of ['m2m', path]) {
      const reply = hasStatus(await kit.owner.get(rest), 200);
      ensure(!reply.text.includes(secret), `${rest} has the secret`);
      hasNoSecret(kit, reply);
    }
    await remove(kit, path);
  }),
  ownerCheck('4.3-content-type', 'a client is created from application/json only', async (kit) => {
    const reply = await kit.owner.send({
      method: 'POST',
      path: kit.owner.path('m2m'),
      headers: { 'idempotency-key': newKey(), 'content-type': 'text/plain' },
      bytes: JSON.stringify({ name: 'Conformance', profile: 'observe' }),
    });
    hasStatus(reply, 415, 400);
  }),
  ownerCheck('4.3-client-profile', 'another profile is refused', async (kit) => {
    hasStatus(await kit.owner.post('m2m', { name: 'Conformance', profile: 'emperor' }), 400);
  }),
  ownerCheck('4.3-client-name', 'a client without a name is refused', async (kit) => {
    hasStatus(await kit.owner.post('m2m', { profile: 'observe' }), 400);
  }),
  ownerCheck('4.3-client-custom', 'custom takes scopes that exist', async (kit) => {
    const { scopes, read_agents: scope } = kit.dialect.client;
    const { path } = await newClient(kit, { profile: 'custom', [scopes]: [scope] });
    await remove(kit, path);
    const wrong = { name: 'Conformance', profile: 'custom', [scopes]: ['no:such-scope'] };
    hasStatus(await kit.owner.post('m2m', wrong), 400);
  }),
  ownerCheck('5-custom', 'a custom client can do what its scopes allow', async (kit) => {
    const { scopes, read_agents: scope } = kit.dialect.client;
    const client = await newClient(kit, { profile: 'custom', [scopes]: [scope] });
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/agents'), 200);
    hasStatus(await caller.get('/v1/sessions'), 403);
    await remove(kit, client.path);
  }),
  ownerCheck('4.3-one-secret', 'a repeated create is a conflict without a secret', async (kit) => {
    const body = { name: 'Conformance', profile: 'observe' };
    const key = newKey();
    const { id, secret } = kit.owner.keep(hasStatus(await kit.owner.post('m2m', body, key), 201));
    const again = hasStatus(await kit.owner.post('m2m', body, key), 409);
    ensure(!again.text.includes(secret), 'the conflict has the secret');
    hasNoSecret(kit, again);
    await remove(kit, `m2m/${id}`);
  }),
  ownerCheck('4.3-get-client', 'a client is read with its credentials', async (kit) => {
    const { id, secret, path } = await newClient(kit);
    const reply = hasStatus(await kit.owner.get(path), 200);
    same(at(reply.body, 'client.id'), id, 'client.id');
    same(listAt(reply.body, 'credentials').length, 1, 'the number of credentials');
    ensure(!reply.text.includes(secret), 'the response has the secret');
    hasNoSecret(kit, reply);
    await remove(kit, path);
  }),
  ownerCheck('4.3-rename', 'a client is renamed', async (kit) => {
    const { path } = await newClient(kit);
    await change(kit, path, { name: 'Renamed' });
    same(at((await kit.owner.get(path)).body, 'client.name'), 'Renamed', 'name');
    await remove(kit, path);
  }),
  ownerCheck('9-version', 'a change changes the version', async (kit) => {
    const { path } = await newClient(kit);
    const before = await versionOf(kit, path);
    await change(kit, path, { name: 'Renamed' });
    ensure((await versionOf(kit, path)) !== before, `the version is still ${before}`);
    await remove(kit, path);
  }),
  ownerCheck('4.3-patch-profile', 'the profile of a client is changed', async (kit) => {
    const { path } = await newClient(kit);
    await change(kit, path, { profile: 'observe' });
    same(at((await kit.owner.get(path)).body, 'client.profile'), 'observe', 'profile');
    await remove(kit, path);
  }),
  ownerCheck('5-scope-removal', 'a removed permission is gone at once', async (kit) => {
    const client = await newClient(kit);
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    const opening = { agent_name: kit.agentNames.echo };
    hasStatus(await caller.post('/v1/sessions', opening), 200, 201);
    await change(kit, client.path, { profile: 'observe' });
    hasStatus(await caller.post('/v1/sessions', opening), 403);
    await remove(kit, client.path);
  }),
  ownerCheck('4.3-version-required', 'a change without a version is refused', async (kit) => {
    const { path } = await newClient(kit);
    hasStatus(await kit.owner.patch(path, { name: 'Renamed' }), 400);
    await remove(kit, path);
  }),
  ownerCheck('4.3-stale-version', 'a change with a stale version is a conflict', async (kit) => {
    const { path } = await newClient(kit);
    const version = await versionOf(kit, path);
    hasStatus(await kit.owner.patch(path, { version, name: 'First' }), 200, 202);
    hasStatus(await kit.owner.patch(path, { version, name: 'Second' }), 409);
    same(at((await kit.owner.get(path)).body, 'client.name'), 'First', 'name');
    await remove(kit, path);
  }),
  ownerCheck('4.3-status-alone', 'status is not changed with a name or profile', async (kit) => {
    const { path } = await newClient(kit);
    const version = await versionOf(kit, path);
    for (const more of [{ name: 'Renamed' }, { profile: 'observe' }]) {
      const reply = await kit.owner.patch(path, { version, status: 'disabled', ...more });
      hasStatus(reply, 400, 409);
    }
    same(at((await kit.owner.get(path)).body, 'client.status'), 'active', 'status');
    await remove(kit, path);
  }),
  ownerCheck('3-client-disable', 'a client is disabled', async (kit) => {
    const { path } = await newClient(kit);
    await change(kit, path, { status: 'disabled' });
    same(at((await kit.owner.get(path)).body, 'client.status'), 'disabled', 'status');
    await remove(kit, path);
  }),
  ownerCheck(
    '3-client-disabled',
    'a token of a disabled client is refused at once',
    async (kit) => {
      const client = await newClient(kit);
      const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
      hasStatus(await caller.get('/v1/agents'), 200);
      await change(kit, client.path, { status: 'disabled' });
      hasStatus(await caller.get('/v1/agents'), 401, 403);
      await remove(kit, client.path);
    },
  ),
  ownerCheck('3-client-enable', 'an enabled client works again', async (kit) => {
    const client = await newClient(kit);
    await change(kit, client.path, { status: 'disabled' });
    await change(kit, client.path, { status: 'active' });
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/agents'), 200);
    await remove(kit, client.path);
  }),
  ownerCheck('3-client-deleted', 'a token of a deleted client is refused at once', async (kit) => {
    const client = await newClient(kit);
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/agents'), 200);
    await remove(kit, client.path);
    hasStatus(await caller.get('/v1/agents'), 401, 403);
    const { clientId, secret: clientSecret } = client;
    const reply = await requestToken(kit, { clientId, clientSecret });
    ensure(reply.status >= 400, 'a deleted client obtained a token');
  }),
  ownerCheck('4.3-delete-client', 'a deleted client is not found', async (kit) => {
    const { id, path } = await newClient(kit);
    await remove(kit, path);
    hasStatus(await kit.owner.get(path), 404);
    const { body } = hasStatus(await kit.owner.get('m2m'), 200);
    const ids = listAt(body, 'clients').map((client) => textAt(client, 'id'));
    ensure(!ids.includes(id), `${id} is still in the list`);
  }),
];
