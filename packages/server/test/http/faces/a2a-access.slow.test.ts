import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { addClient, addOrganization, addTenant } from '../../support/identities.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { A2aCalls, said } from './a2a-calls.ts';

const publish = ['a2a'];
const elsewhere = { ...usualAgents.echo, publish, tenants: { default: 'disabled' } };
const agents = { ...usualAgents, elsewhere };

let server: TestServer;
let calls: A2aCalls;
beforeAll(async () => {
  server = await startServer({ agents });
  calls = new A2aCalls(server);
});

describe('who may call', () => {
  test('the path selects the tenant: headers that differ are 403, and none are needed (D-234)', async () => {
    const { authorization = '' } = server.client;
    const params = { ...calls.place, agent_name: 'echo' };
    const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
    const headers = { 'a2a-version': '1.0' };
    const as = { authorization };
    expect((await server.send('call_published_agent', { as, params, headers, body })).status).toBe(
      200,
    );
    for (const more of [
      { 'x-organization-id': 'org_other' },
      { 'x-workspace-tenant-id': 'ten_other' },
      { 'x-tenant-id': 'ten_other' },
      { 'x-workspace-tenant-id': 'not an id' },
    ] as const) {
      const call = { as: { ...as, ...more } as Record<string, string>, params, headers, body };
      expect(await server.refused('call_published_agent', call)).toMatchObject({
        status: 403,
        error: 'forbidden',
      });
    }
    const both = { ...server.client, 'x-tenant-id': calls.place.tenant_id };
    expect(await server.refused('call_published_agent', { as: both, params, body })).toMatchObject({
      error: 'invalid_selector',
    });
    for (const wrong of [{ tenant_id: 'x y' }, { organization_id: 'org_never' }]) {
      const elsewhere = { as, params: { ...params, ...wrong }, body };
      expect((await server.refused('call_published_agent', elsewhere)).error).toBe('forbidden');
    }
  });

  test('a method needs the scopes of what it does', async () => {
    const reader = await addClient(server, { profile: 'custom', scopes: ['runs:read'] });
    const as = reader.in(calls.place.tenant_id);
    const params = { ...calls.place, agent_name: 'echo' };
    const headers = { 'a2a-version': '1.0' };
    expect((await calls.call('ListTasks', {}, { as })).result).toBeDefined();
    const { id, contextId } = await calls.task(said('x'));
    for (const [method, sent, scope] of [
      ['SendMessage', said('x'), 'sessions:write runs:write'],
      ['SendStreamingMessage', said('x', { contextId }), 'runs:write'],
      ['SendMessage', said('x', { taskId: id }), 'interactions:write'],
      ['CancelTask', { id }, 'runs:write'],
    ] as const) {
      const body = { jsonrpc: '2.0', id: 1, method, params: sent };
      const refused = await server.refused('call_published_agent', { as, params, headers, body });
      expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
      expect(refused.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
    }
  });

  test('a task of another tenant looks like an unknown one', async () => {
    const { id, contextId } = await calls.task(said('x'));
    const tenant_id = await addTenant(server, 'Other');
    const other = await addOrganization(server, 'Elsewhere');
    const far = await addTenant(server, 'Far', other);
    const near = (await addClient(server, {})).in(tenant_id);
    const foreign = (await addClient(server, {}, other)).in(far);
    for (const [as, at] of [
      [near, { ...calls.place, tenant_id }],
      [foreign, { organization_id: other.organization_id, tenant_id: far }],
    ] as const) {
      for (const [method, sent] of [
        ['GetTask', (name: string) => ({ id: name })],
        ['CancelTask', (name: string) => ({ id: name })],
        ['SubscribeToTask', (name: string) => ({ id: name })],
        ['SendMessage', (name: string) => said('x', { taskId: name })],
      ] as const) {
        const never = await calls.call(method, sent('run_never'), { as, params: at });
        expect(never.error?.code).toBe(-32001);
        expect(await calls.call(method, sent(id), { as, params: at })).toEqual(never);
      }
      const never = await calls.call('SendMessage', said('x', { contextId: 'sess_never' }), {
        as,
        params: at,
      });
      expect(never.error?.code).toBe(-32602);
      const reached = await calls.call('SendMessage', said('x', { contextId }), { as, params: at });
      expect(reached).toEqual(never);
      expect(await calls.call('ListTasks', {}, { as, params: at })).toMatchObject({
        result: { tasks: [] },
      });
    }
  });

  test('an agent that is not published, not enabled or not there looks the same, with and without a token', async () => {
    const names = ['failing', 'elsewhere', 'never', 'x'.repeat(100), 'Not a name'];
    const cards = new Set<string>();
    const answers = new Set<string>();
    const plain = (text: string) => text.replace(/"request_id":"[^"]*"/, '');
    for (const agent_name of names) {
      const params = { ...calls.place, agent_name };
      const card = await server.refused('get_agent_card', { params });
      const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
      const called = await server.refused('call_published_agent', { params, body });
      expect([card.status, card.error, called.error]).toEqual([
        404,
        'agent_not_found',
        'agent_not_found',
      ]);
      cards.add(plain(card.text));
      answers.add(plain(called.text));
    }
    for (const wrong of [{ tenant_id: 'not an id' }, { organization_id: 'x'.repeat(300) }]) {
      const params = { ...calls.place, agent_name: 'echo', ...wrong };
      cards.add(plain((await server.refused('get_agent_card', { params })).text));
    }
    expect([cards.size, answers.size]).toEqual([1, 1]);
  });

  test('the card has the shape of the version, and no word of the tenant beyond its address', async () => {
    const params = { ...calls.place, agent_name: 'echo' };
    const at = { params, as: bearer('garbage') };
    const headers = { 'a2a-version': '1.0' };
    const { body: card, headers: sent } = await server.send('get_agent_card', { ...at, headers });
    const url = `${server.baseUrl}/v1/a2a/${calls.place.organization_id}/${calls.place.tenant_id}/echo`;
    const tokenUrl = `${server.baseUrl}/v1/oauth/token`;
    expect(card).toMatchObject({
      name: 'echo',
      description: 'Says the prompt back',
      capabilities: { streaming: true, pushNotifications: false },
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      securitySchemes: {
        convoke: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } } },
      },
    });
    expect(card).not.toHaveProperty('protocolVersion');
    // Only an agent with schemas has modes of its own.
    expect(JSON.stringify(card)).not.toMatch(/"(input|output)Modes"/);
    expect(sent.get('vary')).toContain('A2A-Version');
    const { body: legacy } = await server.send('get_agent_card', at);
    expect(legacy).toMatchObject({
      protocolVersion: '0.3.0',
      url,
      preferredTransport: 'JSONRPC',
      securitySchemes: { convoke: { type: 'oauth2', flows: { clientCredentials: { tokenUrl } } } },
    });
  });
});
