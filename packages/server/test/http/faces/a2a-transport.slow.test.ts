import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { A2aCalls, said } from './a2a-calls.ts';
import { a2aVersions, openA2aClientOver } from './a2a-clients.ts';

let server: TestServer;
let calls: A2aCalls;
let address: string;
beforeAll(async () => {
  const asker = { ...usualAgents.asker, publish: ['a2a'] };
  server = await startServer({ agents: { ...usualAgents, asker } });
  calls = new A2aCalls(server);
  const { organization_id, tenant_id } = calls.place;
  address = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/echo`;
});

/** As it is written: with no header but these. */
const post = (url: string, body: object, headers: Record<string, string> = {}) => {
  const { authorization = '' } = server.client;
  return fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
};
const call = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

describe('the version of the protocol', () => {
  const codeOf = async (response: Response) =>
    ((await response.json()) as { error?: { code: number } }).error?.code;

  test.each([
    ['?A2A-Version=1.0', {}, undefined],
    ['?A2A-Version=1.0', { 'a2a-version': '1.0' }, undefined],
    ['?A2A-Version=1.0', { 'a2a-version': '' }, undefined],
    ['?A2A-Version=', { 'a2a-version': '1.0' }, undefined],
    ['?A2A-Version=1.0.1', { 'a2a-version': '1' }, undefined],
    ['', { 'a2a-version': ' 1.0 ' }, undefined],
    ['?A2A-Version=0.3', { 'a2a-version': '1.0' }, -32600],
    ['?A2A-Version=1.0', { 'a2a-version': '0.3' }, -32600],
    ['?A2A-Version=0.3', {}, -32601],
    ['?A2A-Version=', {}, -32601],
    ['?A2A-Version=2.0', {}, -32009],
    ['?A2A-Version=2.0', { 'a2a-version': '1.0' }, -32009],
  ] as const)('as %s with the headers %o', async (query, headers, code) => {
    expect(await codeOf(await post(`${address}${query}`, call('ListTasks'), headers))).toBe(code);
  });

  test('is the only parameter, and is given once', async () => {
    for (const query of ['?a=1', '?A2A-Version=1.0&a=1', '?A2A-Version=1.0&A2A-Version=1.0']) {
      const { status } = await post(`${address}${query}`, call('ListTasks'));
      expect([query, status]).toEqual([query, 400]);
    }
  });
});

test('the card has a tag, by which a client that has it is told so (D-471)', async () => {
  const card = `${new URL(address).pathname}/.well-known/agent-card.json`;
  const read = (headers: Record<string, string>) => server.call('GET', card, { headers });
  const first = await read({});
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  const again = await read({ 'if-none-match': `"x", W/${etag}` });
  expect([again.status, again.headers.get('etag'), again.text]).toEqual([304, etag, '']);
  expect(again.headers.get('vary')).toContain('A2A-Version');
  expect(again.headers.get('cache-control')).toBe('public, max-age=60');
  expect((await read({ 'if-none-match': '"x"' })).status).toBe(200);
  const other = await read({ 'if-none-match': etag, 'a2a-version': '1.0' });
  expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false]);
  const asker = await server.call('GET', card.replace('/echo/', '/asker/'));
  expect(asker.headers.get('etag')).not.toBe(etag);
});

test.each(['ListTasks', 'SendMessage', 'Never'])(
  'a notification is neither answered nor carried out: %s',
  async (method) => {
    const newest = async () =>
      (await server.send('list_tenant_runs', { query: { limit: '1' } })).body.runs[0]?.id;
    const before = await newest();
    const { id: _, ...notification } = call(method, said('x'));
    const headers = { 'a2a-version': '1.0' };
    const { pathname } = new URL(address);
    const answer = await server.call('POST', pathname, { headers, body: notification });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await newest()).toBe(before);
  },
);

test('a call whose id is null is answered, and one that is none is refused', async () => {
  const asked = await calls.post({ ...call('ListTasks'), id: null });
  expect(asked).toMatchObject({ id: null, result: {} });
  expect(await calls.post({ jsonrpc: '2.0' })).toMatchObject({ id: null, error: { code: -32600 } });
});

describe('the address with a slash at its end', () => {
  test.each(a2aVersions)('is the same to a client of %s', async (version) => {
    const { authorization = '' } = server.client;
    const slashed: typeof fetch = (input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      return fetch(url === address ? `${address}/` : input, init);
    };
    const client = await openA2aClientOver(slashed, {
      version,
      agentUrl: address,
      headers: { authorization },
    });
    const task = await client.send('hello');
    expect(task).toMatchObject({ state: 'completed', text: 'hello (run 1)' });
    expect(await client.get(task.id)).toEqual(task);
  });

  test('asks for the same token, and is at no other operation', async () => {
    expect((await post(`${address}/`, call('ListTasks'), { authorization: '' })).status).toBe(401);
    const wrong = await fetch(`${address}/`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post(`${address}/x`, call('ListTasks'))).status).toBe(404);
    expect((await fetch(`${address}/.well-known/agent-card.json/`)).status).toBe(404);
    expect((await fetch(`${server.baseUrl}/healthz/`)).status).toBe(404);
  });
});
