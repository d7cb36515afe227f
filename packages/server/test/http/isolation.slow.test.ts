import { type OperationId, operations, pathParams } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsPath } from '../support/api-steps.ts';
import { type Identity, type OperationCall, pathOf } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { type NewClient, type TestClient, addClient, addTenant } from '../support/identities.ts';
import { type TestServer, requestToken, selecting, startServer } from '../support/server.ts';
import { changedTables, restingDigests } from '../support/table-digests.ts';
import {
  type TenantData,
  type TenantDataIds,
  fillTenant,
  tenantDataAgents,
  fileTextOf,
} from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

describe.each(databaseKinds)('on %s', (database) => {
  /** Three tenants: two of one organization, one of another. No canary is part of another. */
  let server: TestServer;
  let own: TenantData;
  let sibling: TenantData;
  let foreign: TenantData;
  beforeAll(async () => {
    server = await startServer({ database, agents: tenantDataAgents });
    own = await fillTenant(server, 'canaryown');
    sibling = await fillTenant(server, 'canarysibling', own.organization);
    foreign = await fillTenant(server, 'canaryforeign');
  });

  describe('a client that is bound to one tenant', () => {
    const made: TestClient[] = [];
    const add = async (client: NewClient) => {
      const added = await addClient(server, client, own.organization);
      made.push(added);
      return added;
    };
    let bound: TestClient;
    beforeAll(async () => {
      bound = await add({ tenant_ids: [own.ids.tenant_id] });
    });
    afterAll(async () => {
      const { organization_id, owner: as } = own.organization;
      for (const { record } of made) {
        await server.send('delete_client', {
          as,
          params: { organization_id, client_id: record.id },
        });
      }
    });

    const automated = (Object.keys(operations) as OperationId[]).filter(
      (id) => operations[id].caller === 'automation',
    );
    test.each(automated)('%s: another tenant of its organization looks like none', async (id) => {
      const call = await validCalls[id](server, sibling);
      const path = pathOf(id, call);
      const ask = async (tenantId: string) =>
        said(await server.call(operations[id].method, path, { ...call, as: bound.in(tenantId) }));
      const refused = await ask(sibling.ids.tenant_id);
      expect(refused).toMatch(/^403 \{"error":"forbidden"/);
      expect(refused).toBe(await ask('ten_never'));
    });

    test('lists that tenant only, and works in it', async () => {
      expect(bound.record.tenant_ids).toEqual([own.ids.tenant_id]);
      const as = bound.in(own.ids.tenant_id);
      const { body } = await server.send('list_workspaces', { as });
      expect(body.workspaces.map(({ tenant }) => tenant.tenant_id)).toEqual([own.ids.tenant_id]);
      expect((await server.send('whoami', { as })).body.tenant_id).toBe(own.ids.tenant_id);
    });

    test('stays out of a tenant that is created later; its record counts those that do not', async () => {
      const { organization } = own;
      const unboundAt = async (tenant_id: string) => {
        const params = { organization_id: organization.organization_id, tenant_id };
        const { body } = await server.send('get_tenant', { as: organization.owner, params });
        return body.unbound_clients ?? -1;
      };
      const before = await unboundAt(own.ids.tenant_id);
      const open = await add({});
      await add({ tenant_ids: [own.ids.tenant_id] });
      const later = await addTenant(server, 'Later', organization);
      expect(await unboundAt(later)).toBe(before + 1);
      expect((await server.refused('whoami', { as: bound.in(later) })).error).toBe('forbidden');
      expect((await server.send('whoami', { as: open.in(later) })).status).toBe(200);
    });
  });

  /** Parameters that name something of a tenant or of an organization. */
  const naming = Object.keys(operations).flatMap((id) => {
    const operation = id as OperationId;
    const others = [
      'organization_id',
      'agent_name',
      'guide_name',
      'page_name',
      'chat_id',
      'key',
      'service',
    ];
    // Faces that select the tenant by their path have tests of their own (D-234), and so has their metadata, which says
    // the same of every tenant (D-619). A callback has no caller: its token is all that it needs (D-910).
    const isSelector = (name: string) =>
      (name === 'tenant_id' && operations[operation].tag === 'Faces') ||
      operation === 'get_resource_metadata' ||
      operation === 'receive_callback';
    const names = pathParams(operations[operation].path).filter(
      (name) => !others.includes(name) && !isSelector(name),
    );
    return names.map((name) => ({ id: operation, name: name as keyof TenantDataIds }));
  });

  /** Operations that name more than one thing. */
  const namingSeveral = Array.from(
    Map.groupBy(naming, ({ id }) => id),
    ([id, params]) => ({ id, names: params.map(({ name }) => name) }),
  ).filter(({ names }) => names.length > 1);

  const said = ({ status, text }: { status: number; text: string }) =>
    `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;

  async function askWith(id: OperationId, params: Partial<TenantDataIds>): Promise<string> {
    const call = await validCalls[id](server, own);
    const ids = { ...call.params, ...params };
    const body = id === 'offboard_tenant' ? { confirm: ids['tenant_id'] } : call.body;
    const path = pathOf(id, { params: ids });
    const { as = {}, headers = {} } = call;
    return said(await server.call(operations[id].method, path, { as, headers, body }));
  }

  const absent: ReadonlyMap<OperationId, string> = new Map([
    ['delete_file', 'file_id'],
    ['delete_schedule', 'schedule_id'],
    ['delete_webhook', 'webhook_id'],
    ['delete_budget', 'budget_id'],
    ['revoke_invitation', 'invitation_id'],
  ]);

  describe('an id of another tenant looks like an unknown id (D-53)', () => {
    test.each(naming)('$id with a $name of another', async ({ id, name }) => {
      const never = await askWith(id, { [name]: `${own.ids[name].split('_')[0]}_never` });
      // Deleting what is not there succeeds, and deletes nothing (D-275, D-490).
      const isAbsent = absent.get(id) === name;
      expect(never).toMatch(isAbsent ? /^204 $/ : /^404 \{"error":"not_found"/);
      const isManaged = operations[id].caller === 'human';
      // The owner of an organization sees all that it has, so only ids of other organizations are foreign.
      for (const world of isManaged ? [foreign] : [sibling, foreign]) {
        expect(await askWith(id, { [name]: world.ids[name] })).toBe(never);
      }
    });

    // One wrong id among right ones is caught by the check of its session; these are all right for their own tenant.
    test.each(namingSeveral)('$id with all ids of another', async ({ id, names }) => {
      const { as = {}, headers = {}, body, params } = await validCalls[id](server, own);
      const ask = async (idOf: (name: keyof TenantDataIds) => string) => {
        const ids = Object.fromEntries(names.map((name) => [name, idOf(name)]));
        const path = pathOf(id, { params: { ...params, ...ids } });
        return said(await server.call(operations[id].method, path, { as, headers, body }));
      };
      const never = await ask((name) => `${own.ids[name].split('_')[0]}_never`);
      expect(never).toMatch(/^404 \{"error":"not_found"/);
      const isManaged = operations[id].caller === 'human';
      for (const world of isManaged ? [foreign] : [sibling, foreign]) {
        expect(await ask((name) => world.ids[name])).toBe(never);
      }
    });

    test('a credential of another client is not found', async () => {
      const { client_id } = own.ids;
      const { credential_id } = sibling.ids;
      const wrong = await askWith('revoke_credential', { client_id, credential_id });
      expect(wrong).toBe(
        await askWith('revoke_credential', { client_id, credential_id: 'cred_x' }),
      );
    });

    test('a file of another tenant in an input looks like an unknown file', async () => {
      const start = async (id: string) => {
        const refused = await server.refused('start_run', {
          as: own.as,
          params: { session_id: own.ids.session_id },
          body: { input: { prompt: 'x', files: [id] } },
        });
        return said(refused).replaceAll(id, '<id>');
      };
      const never = await start('file_never');
      expect(never).toMatch(/^409 \{"error":"file_not_ready"/);
      for (const world of [sibling, foreign]) expect(await start(world.ids.file_id)).toBe(never);
    });

    test('none of these calls changed anything', async () => {
      const before = await restingDigests(server);
      const attempts = [...naming.map(({ id, name }) => ({ id, names: [name] })), ...namingSeveral];
      for (const { id, names } of attempts) {
        const call: OperationCall = await idsOnly(id);
        const wrong = Object.fromEntries(names.map((name) => [name, foreign.ids[name]]));
        const params = { ...call.params, ...wrong };
        await server.call(operations[id].method, pathOf(id, { params }), call);
      }
      expect(changedTables(before, await restingDigests(server))).toEqual([]);
    });

    /** A call that creates nothing beforehand. */
    async function idsOnly(id: OperationId): Promise<OperationCall> {
      const isManaged = operations[id].caller === 'human';
      const as = isManaged ? own.organization.owner : own.as;
      return { as, params: { ...own.ids, chat_id: 'chat', key: 'rating', service: 'github' } };
    }
  });

  describe('what a tenant can read', () => {
    /** Everything a client can read in its tenant, page by page. */
    async function crawl(
      as: Identity,
      ids: Pick<TenantDataIds, 'session_id' | 'run_id' | 'file_id' | 'interaction_key'>,
    ) {
      const texts: string[] = [];
      const get = async (path: string, accept = 'application/json') => {
        const { text } = await server.call('GET', path, { as, headers: { accept } });
        texts.push(text);
      };
      const session = `/v1/sessions/${ids.session_id}`;
      for (const path of ['/v1/whoami', '/v1/agents', '/v1/sessions', session]) await get(path);
      for (const part of ['runs', 'files', 'interactions?status=all'])
        await get(`${session}/${part}`);
      await get(`${session}/runs/${ids.run_id}`);
      await get('/v1/runs');
      await get(`/v1/runs/${ids.run_id}`);
      await get('/v1/interactions?status=all');
      await get(`/v1/interactions/${ids.interaction_key}`);
      const events = eventsPath({ session_id: ids.session_id, id: ids.run_id });
      await get(events);
      await get(`${session}/files/${ids.file_id}/content`, '*/*');
      const reader = await server.stream(events, { as });
      texts.push((await reader.until('user_question')).text);
      reader.close();
      return texts;
    }

    test('contains its own canary wherever a caller can write, and no other tenant’s', async () => {
      const worlds = [own, sibling, foreign];
      for (const world of worlds) {
        const texts = await crawl(world.as, world.ids);
        const [whoami, agents, ...held] = texts;
        for (const text of held) expect(text).toContain(world.word);
        expect([whoami, agents].join('')).not.toContain('canary');
        for (const other of worlds.filter((one) => one !== world)) {
          expect(texts.filter((text) => text.includes(other.word))).toEqual([]);
          expect(texts.filter((text) => text.includes(other.ids.session_id))).toEqual([]);
        }
        expect(texts).toContain(fileTextOf(world.word));
      }
    });

    test('a client of the organization reaches both its tenants, one at a time', async () => {
      const client = await addClient(server, {}, own.organization);
      const list = async (tenant: string) =>
        (await server.send('list_sessions', { as: client.in(tenant) })).body.sessions.map(
          ({ id }) => id,
        );
      const here = await list(own.tenantId);
      const there = await list(sibling.tenantId);
      expect(here).toContain(own.ids.session_id);
      expect(there).toContain(sibling.ids.session_id);
      expect(here.filter((id) => there.includes(id))).toEqual([]);
    });

    test('does not depend on what others do (non-interference)', async () => {
      const empty = await addTenant(server, 'Empty', own.organization);
      const as = (await addClient(server, {}, own.organization)).in(empty);
      const look = async () => {
        const answers = [];
        for (const path of ['/v1/agents', '/v1/sessions', '/v1/sessions/sess_x/runs']) {
          answers.push(said(await server.call('GET', path, { as })));
        }
        return answers;
      };
      const before = await look();
      await server.send('create_session', { as: foreign.as, body: { agent_name: 'echo' } });
      await server.send('create_session', { as: own.as, body: { agent_name: 'echo' } });
      expect(await look()).toEqual(before);
    });
  });

  describe('what a manager can read', () => {
    test('contains nothing of another organization', async () => {
      for (const [world, other] of [
        [own, foreign],
        [foreign, own],
      ] as const) {
        const { owner, organization_id } = world.organization;
        const base = `/v1/organizations/${organization_id}`;
        const texts: string[] = [];
        for (const path of [
          '',
          '/members',
          '/m2m',
          '/m2m/profiles',
          `/m2m/${world.ids.client_id}`,
          '/tenants',
          `/tenants/${world.tenantId}`,
        ]) {
          texts.push((await server.call('GET', base + path, { as: owner })).text);
        }
        for (const path of ['/v1/me/workspaces', '/v1/me', '/v1/system']) {
          texts.push((await server.call('GET', path, { as: owner })).text);
        }
        expect(texts.filter((text) => text.includes(world.word))).toHaveLength(7);
        expect(texts.filter((text) => text.includes(other.word))).toEqual([]);
        expect(texts.filter((text) => text.includes(other.tenantId))).toEqual([]);
      }
    });
  });

  describe('revoked access (D-51)', () => {
    test('ends with the next request, also under parallel load, and can be restored', async () => {
      const { organization_id, owner } = own.organization;
      const client = await addClient(server, { name: 'Withdrawn' }, own.organization);
      const selected = { organization_id, tenant_id: own.tenantId };
      let as = client.in(own.tenantId);
      const change = async (version: number, status: 'active' | 'disabled') =>
        server.send('update_client', {
          as: owner,
          params: { organization_id, client_id: client.record.id },
          body: { version, status },
        });
      for (let round = 0; round < 5; round += 1) {
        let isOver = false;
        let withdrawnAt = Number.POSITIVE_INFINITY;
        const late: number[] = [];
        const caller = async () => {
          while (!isOver) {
            const startedAt = performance.now();
            const { status } = await server.call('GET', '/v1/whoami', { as });
            if (status === 200 && startedAt > withdrawnAt) late.push(startedAt - withdrawnAt);
            if (status !== 200 && startedAt > withdrawnAt) return;
          }
        };
        const looping = Array.from({ length: 8 }, caller);
        await change(round * 2 + 1, 'disabled');
        withdrawnAt = performance.now();
        await Promise.all(looping);
        isOver = true;
        expect(late).toEqual([]);
        await change(round * 2 + 2, 'active');
        expect((await server.refused('whoami', { as })).status).toBe(401);
        as = selecting(selected, await requestToken(server.baseUrl, client));
        expect((await server.send('whoami', { as })).status).toBe(200);
      }
    });

    test('a revoked credential cannot obtain a token; its earlier tokens stay valid (spec §5.7)', async () => {
      const { organization_id, owner } = own.organization;
      const client = await addClient(server, { name: 'Revoked' }, own.organization);
      await server.send('revoke_credential', {
        as: owner,
        params: {
          organization_id,
          client_id: client.record.id,
          credential_id: client.credentialId,
        },
      });
      expect((await server.send('whoami', { as: client.in(own.tenantId) })).status).toBe(200);
      const refused = await server.refused('issue_token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`,
      });
      expect(refused).toMatchObject({ status: 401, error: 'invalid_client' });
    });

    test('an offboarded tenant is inaccessible from the next request on', async () => {
      const leaving = await addTenant(server, 'Leaving', own.organization);
      const as = (await addClient(server, {}, own.organization)).in(leaving);
      const { body: session } = await server.send('create_session', {
        as,
        body: { agent_name: 'echo' },
      });
      await server.send('offboard_tenant', {
        as: own.organization.owner,
        params: { organization_id: own.ids.organization_id, tenant_id: leaving },
        body: { confirm: leaving },
      });
      const refused = await server.refused('get_session', {
        as,
        params: { session_id: session.id },
      });
      expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    });
  });
});
