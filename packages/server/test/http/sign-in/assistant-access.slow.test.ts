// What the token of an assistant opens: the MCP address of its tenant, and nothing else (D-623).
import {
  type OperationId,
  type UserId,
  mcpScopes,
  operationList,
  operations,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Identity } from '../../support/checked-calls.ts';
import { pathOf } from '../../support/checked-calls.ts';
import { addTenant } from '../../support/identities.ts';
import { type TestServer, bearer, selecting, startServer } from '../../support/server.ts';
import { assistantToken, mcpUrl } from '../../support/sign-in/assistants.ts';
import { addMember, askExchange, asPerson } from '../../support/sign-in/console.ts';
import {
  type TenantData,
  fillFirstOrganization,
  tenantDataAgents,
} from '../../support/tenant-data.ts';
import { validCalls } from '../../support/valid-calls.ts';

let server: TestServer;
let data: TenantData;
let person: UserId;
let token: string;
beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  data = await fillFirstOrganization(server, 'word');
  person = await addMember(server, 'owner');
  token = await assistantToken(server, person);
});

const ids = operationList.map(({ id }) => id as OperationId);
const withToken = ids.filter((id) => operations[id].caller !== 'anonymous');
const faces: readonly string[] = operationList.flatMap((operation) =>
  'face' in operation ? [operation.id] : [],
);

async function ask(id: OperationId, as: Identity) {
  const call = await validCalls[id](server, data);
  const { status, text } = await server.call(operations[id].method, pathOf(id, call), {
    ...call,
    as,
  });
  const { error } = status < 400 || text === '' ? {} : (JSON.parse(text) as { error?: string });
  return `${status} ${error ?? ''}`;
}

test('the faces are those of MCP', () => {
  expect(faces).toEqual(['call_mcp', 'resume_mcp']);
});

test.each(withToken.filter((id) => !faces.includes(id)))(
  '%s: 403 for the token of an owner’s assistant',
  async (id) => {
    expect(await ask(id, selecting(server.quickstart, token))).toBe('403 forbidden');
  },
);

test('a person’s token for the console, of a sign-in or of a session does not open MCP', async () => {
  const others: Identity[] = [await asPerson(server, person), server.owner];
  const { body: session } = await server.send('create_session', { body: { agent_name: 'echo' } });
  const { body: page } = await server.send('create_session_token', {
    params: { session_id: session.id },
    body: {},
  });
  others.push(bearer(page.token));
  for (const as of others) {
    // Of the tenant that the tokens are for: another would refuse them anyway.
    const { pathname } = new URL(mcpUrl(server));
    const { status } = await server.call('POST', pathname, {
      as,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(status).toBe(403);
    expect((await server.call('GET', pathname, { as })).status).toBe(403);
  }
});

test('an assistant’s token is exchanged for no other', async () => {
  const { status, text } = await askExchange(server, token);
  expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request']);
});

test('401 names the document that says where a person signs in, and that document needs no token', async () => {
  const params = {
    organization_id: server.quickstart.organization_id,
    tenant_id: server.quickstart.tenant_id,
  };
  for (const as of [{}, bearer('x')]) {
    const path = pathOf('call_mcp', { params });
    const { status, headers } = await server.call('POST', path, { as });
    const challenge = headers.get('www-authenticate') ?? '';
    expect(status).toBe(401);
    expect(challenge).toContain(`scope="${mcpScopes.join(' ')}"`);
    const [, document = ''] = /resource_metadata="([^"]*)"/.exec(challenge) ?? [];
    expect(document.startsWith(`${server.baseUrl}/.well-known/oauth-protected-resource/`)).toBe(
      true,
    );
    expect(await (await fetch(document)).json()).toEqual({
      resource: mcpUrl(server),
      authorization_servers: [server.baseUrl],
      scopes_supported: [...mcpScopes],
      bearer_methods_supported: ['header'],
      resource_name: 'Convoke',
    });
  }
  // The document is made of the path alone: it does not tell which tenants exist.
  const { body } = await server.send('get_resource_metadata', {
    params: { ...params, tenant_id: 'ten_never' },
  });
  expect(body.resource).toBe(mcpUrl(server, 'ten_never'));
  const rest = await server.call('GET', '/v1/agents', { as: {} });
  expect(rest.headers.get('www-authenticate')).not.toContain('resource_metadata');
});

describe('every role × every tool', () => {
  const tools = {
    viewer: ['convoke_wait'],
    operator: ['echo', 'convoke_wait', 'convoke_answer', 'convoke_cancel'],
    admin: ['echo', 'convoke_wait', 'convoke_answer', 'convoke_cancel'],
    owner: ['echo', 'convoke_wait', 'convoke_answer', 'convoke_cancel'],
  } as const;
  const calls = {
    echo: { prompt: 'Hello' },
    convoke_wait: { run_id: 'run_x' },
    convoke_answer: { run_id: 'run_x', answer: 'x' },
    convoke_cancel: { run_id: 'run_x' },
  };

  async function rpc(as: Identity, method: string, params: object = {}) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const { status, text } = await server.call(
      'POST',
      `${new URL(mcpUrl(server)).pathname}?agents=echo`,
      {
        as,
        headers,
        body,
      },
    );
    return { status, answer: JSON.parse(text) as { result?: { tools?: { name: string }[] } } };
  }

  test.each(Object.entries(tools))('%s', async (role, expected) => {
    const as = bearer(await assistantToken(server, await addMember(server, role as 'owner')));
    const listed = await rpc(as, 'tools/list');
    expect(listed.answer.result?.tools?.map(({ name }) => name)).toEqual(expected);
    for (const [name, given] of Object.entries(calls)) {
      const { status } = await rpc(as, 'tools/call', { name, arguments: given });
      const isListed = expected.some((tool) => tool === name);
      expect([name, status]).toEqual([name, isListed ? 200 : 403]);
    }
  });

  test('a member without a role in tenants has no access', async () => {
    const as = bearer(await assistantToken(server, await addMember(server, 'member')));
    expect((await rpc(as, 'tools/list')).status).toBe(403);
  });

  test('a token of another tenant has no access', async () => {
    const tenant = await addTenant(server, 'Other');
    const as = bearer(await assistantToken(server, person, { tenant }));
    expect((await rpc(as, 'tools/list')).status).toBe(403);
  });

  test('fewer scopes than the role has are fewer tools', async () => {
    const scopes = ['agents:read', 'runs:read', 'runs:write'] as const;
    const as = bearer(await assistantToken(server, person, { scopes }));
    const listed = await rpc(as, 'tools/list');
    const names = listed.answer.result?.tools?.map(({ name }) => name);
    expect(names).toEqual(['convoke_wait', 'convoke_cancel']);
    expect((await rpc(as, 'tools/call', { name: 'echo', arguments: calls.echo })).status).toBe(403);
  });
});
