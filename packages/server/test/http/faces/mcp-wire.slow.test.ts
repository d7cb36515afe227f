// MCP as it is written: what both eras demand of messages and headers, and who may call (D-612 to D-618).
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { openSession, startRun } from '../../support/api-steps.ts';
import { addClient, addOrganization, addTenant } from '../../support/identities.ts';
import { startPuppetServer } from '../../support/puppet-server.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { type Sent, envelope, headersOf, old, placeOf, postTo, recent } from './mcp-posts.ts';

const twice = {
  description: 'Asks twice',
  script: [
    { ask: { question: 'First?' } },
    { say: 'One: {{answer}}. ' },
    { ask: { question: 'Second?' } },
    { say: 'Two: {{answer}}.' },
  ],
};
const hidden = { ...usualAgents.echo, tenants: { default: 'disabled' } };

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    agents: { ...usualAgents, hidden, twice },
    env: { CONVOKE_CORS_ORIGINS: 'https://app.example' },
  });
});

const place = () => placeOf(server);
const post = (body: unknown, sent?: Sent) => postTo(server, body, sent);

test('two selectors that differ in form, and a body of another type, are refused', async () => {
  const as = { ...server.client, 'x-tenant-id': place().tenant_id };
  const [params, headers] = [place(), { 'last-event-id': 'x' }];
  const body = old('ping');
  for (const refused of [
    await server.refused('call_mcp', { as, params, body }),
    await server.refused('resume_mcp', { as, params, headers }),
  ]) {
    expect(refused).toMatchObject({ status: 400, error: 'invalid_selector' });
  }
  const text = { params, headers: { 'content-type': 'text/plain' }, body: '{}' };
  expect(await server.refused('call_mcp', text)).toMatchObject({ error: 'unsupported_media_type' });
});

describe('the older era', () => {
  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-11-25'],
    [7, '2025-11-25'],
  ])('initialize with the version %s is answered with %s', async (asked, given) => {
    const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x' } };
    const { message, headers } = await post(old('initialize', params));
    expect(message?.result).toMatchObject({
      protocolVersion: given,
      capabilities: { tools: {} },
      serverInfo: { name: 'convoke' },
    });
    expect(headers.get('mcp-session-id')).toMatch(/^mcp_[\w-]{20}\.$/);
  });

  test.each([
    [{ elicitation: {} }, 'f'],
    [{ elicitation: { form: {} } }, 'f'],
    [{ elicitation: { url: {} } }, 'u'],
    [{ elicitation: { form: {}, url: {} } }, 'fu'],
    [{ elicitation: 'yes' }, ''],
  ])('the client keeps for us what it can: %o is %s (D-614)', async (capabilities, flags) => {
    const { headers } = await post(old('initialize', { capabilities }));
    expect(headers.get('mcp-session-id')?.split('.')[1]).toBe(flags);
  });

  test('pings are answered, notifications and responses accepted, a session is not deleted', async () => {
    expect((await post(old('ping'))).message).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } },
      { jsonrpc: '2.0', id: 'sess_x/int_x', result: { action: 'accept', content: {} } },
      { jsonrpc: '2.0', id: 9, error: { code: -1, message: 'no' } },
    ]) {
      const { status, text } = await post(message);
      expect([status, text]).toEqual([202, '']);
    }
    const { organization_id, tenant_id } = place();
    const path = `/v1/mcp/${organization_id}/${tenant_id}`;
    const { status, headers } = await server.call('DELETE', path, { as: server.client });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('an unknown method is an error with status 200, an unknown version one with 400', async () => {
    const unknown = await post(old('resources/list'));
    expect([unknown.status, unknown.message?.error?.code]).toEqual([200, -32601]);
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    const other = await post(old('tools/list'), { headers });
    expect([other.status, other.message?.error?.code]).toEqual([400, -32022]);
    const newer = { 'mcp-protocol-version': '2026-07-28' };
    const bare = await post(old('tools/list'), { headers: newer });
    expect([bare.status, bare.message?.error?.code]).toEqual([400, -32602]);
  });
});

describe('the newer era', () => {
  test('discovers, and lists tools for a minute', async () => {
    const about = { 'io.modelcontextprotocol/serverInfo': { name: 'convoke' } };
    const found = await post(recent('server/discover'), { headers: headersOf('server/discover') });
    expect(found.message?.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      _meta: about,
    });
    const listed = await post(recent('tools/list'), { headers: headersOf('tools/list') });
    expect(listed.message?.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'private',
      _meta: about,
    });
  });

  test.each([
    ['another version', { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['no version', { 'mcp-protocol-version': undefined }, -32020],
    ['another method', { 'mcp-method': 'tools/list' }, -32020],
    ['no method', { 'mcp-method': undefined }, -32020],
    ['another name', { 'mcp-name': 'asker' }, -32020],
    ['no name', { 'mcp-name': undefined }, -32020],
    ['an encoded other name', { 'mcp-name': '=?base64?YXNrZXI=?=' }, -32020],
    ['the name encoded', { 'mcp-name': '=?base64?ZWNobw==?=' }, undefined],
  ])('headers and body say the same: %s', async (_, other, code) => {
    const sent = { ...headersOf('tools/call', 'echo'), ...other };
    const headers = Object.fromEntries(
      Object.entries(sent).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const params = { name: 'echo', arguments: { prompt: 'x' } };
    const { status, message } = await post(recent('tools/call', params), { headers });
    expect([status, message?.error?.code]).toEqual([code === undefined ? 200 : 400, code]);
  });

  test('an unknown method is 404, another version names those that there are', async () => {
    for (const method of ['initialize', 'ping', 'resources/list']) {
      const { status, message } = await post(recent(method), { headers: headersOf(method) });
      expect([status, message?.error?.code]).toEqual([404, -32601]);
    }
    const meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const headers = { ...headersOf('tools/list'), 'mcp-protocol-version': '2099-01-01' };
    const { status, message } = await post(recent('tools/list', {}, meta), { headers });
    expect(status).toBe(400);
    expect(message?.error).toMatchObject({
      code: -32022,
      data: {
        supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
        requested: '2099-01-01',
      },
    });
  });

  test('a request says what its client can', async () => {
    const { 'io.modelcontextprotocol/clientCapabilities': _, ...meta } = envelope;
    const headers = headersOf('tools/list');
    const { status, message } = await post(recent('tools/list', {}, meta), { headers });
    expect([status, message?.error?.code]).toEqual([400, -32602]);
  });
});

test('a filled-in form of a client that declared none decides nothing (D-220)', async () => {
  const begun = await post(recent('tools/call', { name: 'writer', arguments: { prompt: 'x' } }), {
    headers: headersOf('tools/call', 'writer'),
  });
  const [, session_id = '', run_id = ''] =
    /"session_id":"(\w+)","run_id":"(\w+)"/.exec(begun.text) ?? [];
  const asked = { params: { session_id } };
  const { body } = await server.send('list_interactions', asked);
  const key = body.interactions[0]?.interaction_key ?? '';
  const filled = { action: 'accept', content: { decision: 'allow' } };
  for (const name of ['writer', 'convoke_wait', 'convoke_answer']) {
    const given = { run_id, prompt: 'x', answer: 'allow' };
    const round = { name, arguments: given, inputResponses: { [key]: filled } };
    const { text } = await post(recent('tools/call', { ...round, requestState: run_id }), {
      headers: headersOf('tools/call', name),
    });
    expect(text).toContain('waiting');
  }
  const response = { jsonrpc: '2.0', id: `${session_id}/${key}`, result: filled };
  expect((await post(response)).status).toBe(202);
  const left = await server.send('list_interactions', asked);
  expect(left.body.interactions.map(({ status }) => status)).toEqual(['pending']);
  const { runs } = (await server.send('list_runs', asked)).body;
  expect(runs).toHaveLength(1);
});

test('a call that is sent again under its key is the same run, and answers nothing twice (D-616)', async () => {
  const call = async (name: string, given: object, key: string) => {
    const headers = { 'idempotency-key': key };
    return (await post(old('tools/call', { name, arguments: given }), { headers })).text;
  };
  const first = await call('twice', { prompt: 'x' }, 'call-1');
  expect(await call('twice', { prompt: 'x' }, 'call-1')).toBe(first);
  expect(await call('twice', { prompt: 'y' }, 'call-1')).toContain('idempotency_conflict');
  const [, run_id = ''] = /"run_id":"(\w+)"/.exec(first) ?? [];
  const answered = await call('convoke_answer', { run_id, answer: 'red' }, 'answer-1');
  expect(answered).toContain('Second?');
  expect(await call('convoke_answer', { run_id, answer: 'red' }, 'answer-1')).toBe(answered);
  const end = await call('convoke_answer', { run_id, answer: 'blue' }, 'answer-2');
  expect(end).toContain('One: red. Two: blue.');
});

describe('what is no message', () => {
  test.each([
    ['{', -32700, null],
    ['[]', -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['"text"', -32600, null],
  ])('%s is %i', async (body, code, id) => {
    const headers = { 'content-type': 'application/json' };
    const { status, message } = await post(body, { headers });
    expect([status, message?.error?.code, message?.id]).toEqual([400, code, id]);
  });

  test.each([{}, { name: 7 }, { name: 'echo', arguments: 'x' }])(
    'a call with the parameters %o is -32602',
    async (params) => {
      const { status, message } = await post(old('tools/call', params));
      expect([status, message?.error?.code]).toEqual([200, -32602]);
    },
  );

  test('a query is checked, and a body bounded', async () => {
    for (const [query, error] of [
      ['?wait=0', 'invalid_query'],
      ['?wait=3601', 'invalid_query'],
      ['?agents=', 'invalid_query'],
      ['?agents=a,B', 'invalid_query'],
      [`?agents=${Array.from({ length: 51 }, (_, n) => `a${n}`).join(',')}`, 'invalid_query'],
      ['?x=1', 'unknown_query_parameter'],
    ]) {
      const { status, text } = await post(old('ping'), { query: query ?? '' });
      expect([status, (JSON.parse(text) as { error: string }).error]).toEqual([400, error]);
    }
    const params = place();
    const large = await server.refused('call_mcp', { params, body: ' '.repeat(5 * 1024 * 1024) });
    expect(large.error).toBe('body_too_large');
    const headers = { 'idempotency-key': '' };
    const keyed = await server.refused('call_mcp', { params, headers, body: old('ping') });
    expect(keyed.error).toBe('invalid_idempotency_key');
  });
});

describe('who may call', () => {
  test('pages of other origins may not', async () => {
    const params = place();
    const foreign = { origin: 'https://evil.example' };
    const posted = { params, headers: foreign, body: old('ping') };
    expect((await server.refused('call_mcp', posted)).error).toBe('forbidden');
    const headers = { ...foreign, 'last-event-id': 'x' };
    expect((await server.refused('resume_mcp', { params, headers })).error).toBe('forbidden');
    for (const origin of [new URL(server.baseUrl).origin, 'https://app.example']) {
      expect((await post(old('ping'), { headers: { origin } })).status).toBe(200);
    }
  });

  test('every call needs the scopes to list agents and to read runs', async () => {
    const reader = await addClient(server, { profile: 'custom', scopes: ['agents:read'] });
    const as = reader.in(place().tenant_id);
    const call = { params: place(), as, body: old('tools/list') };
    expect((await server.refused('call_mcp', call)).error).toBe('insufficient_scope');
    const headers = { 'last-event-id': 'x' };
    const refused = await server.refused('resume_mcp', { params: place(), as, headers });
    expect(refused.error).toBe('insufficient_scope');
  });

  test('an agent that the tenant does not have is not listed, and is as unknown as any', async () => {
    const listed = await post(old('tools/list'));
    expect(listed.text).toContain('"name":"echo"');
    expect(listed.text).not.toContain('"name":"hidden"');
    const call = (name: string) => old('tools/call', { name, arguments: { prompt: 'x' } });
    const asked = await post(call('hidden'));
    const never = await post(call('never'));
    expect(asked.text.replaceAll('hidden', 'never')).toBe(never.text);
  });

  test('runs and sessions of another tenant look like unknown ones, also in what is forged', async () => {
    const params = { name: 'asker', arguments: { prompt: 'x' } };
    const { text } = await post(old('tools/call', params));
    const [, session_id = '', run_id = ''] =
      /"session_id":"(\w+)","run_id":"(\w+)"/.exec(text) ?? [];
    const { body } = await server.send('list_interactions', { params: { session_id } });
    const key = body.interactions[0]?.interaction_key ?? '';

    const near = await addTenant(server, 'Near');
    const organization = await addOrganization(server, 'Elsewhere');
    const far = await addTenant(server, 'Far', organization);
    for (const [as, at] of [
      [(await addClient(server, {})).in(near), { ...place(), tenant_id: near }],
      [
        (await addClient(server, {}, organization)).in(far),
        { organization_id: organization.organization_id, tenant_id: far },
      ],
    ] as const) {
      const call = async (name: string, given: object, id: string) => {
        const asked = old('tools/call', { name, arguments: given });
        return (await post(asked, { as, params: at })).text.replaceAll(id, '…');
      };
      const pairs = [
        ['convoke_wait', (id: string) => ({ run_id: id }), run_id, 'run_never'],
        ['convoke_cancel', (id: string) => ({ run_id: id }), run_id, 'run_never'],
        ['convoke_answer', (id: string) => ({ run_id: id, answer: 'red' }), run_id, 'run_never'],
        ['asker', (id: string) => ({ prompt: 'x', session_id: id }), session_id, 'sess_never'],
      ] as const;
      for (const [name, given, own, never] of pairs) {
        const reached = await call(name, given(own), own);
        expect(reached).toContain('isError');
        expect(reached).toBe(await call(name, given(never), never));
      }
      const forged = Buffer.from(JSON.stringify([run_id, 1, 'f', ''])).toString('base64url');
      for (const id of [forged, 'x', '%%%', 'e30', 'a'.repeat(3000)]) {
        const headers = { 'last-event-id': id };
        const refused = await server.refused('resume_mcp', { params: at, as, headers });
        expect(refused.error).toBe('not_found');
      }
      const result = { action: 'accept', content: { answer: 'red' } };
      const response = { jsonrpc: '2.0', id: `${session_id}/${key}`, result };
      const headers = { 'mcp-session-id': 'mcp_x.f' };
      expect((await post(response, { as, params: at, headers })).status).toBe(202);
    }
    const open = await server.send('list_interactions', { params: { session_id } });
    expect(open.body.interactions[0]).toMatchObject({ status: 'pending' });
  });

  test('without an id there is no stream to continue', async () => {
    const refused = await server.refused('resume_mcp', { params: place() });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

test('a server that stops refuses calls with 503 not_ready, and their runs continue', async () => {
  const { server: own, puppet } = await startPuppetServer();
  const session = await openSession(own, 'puppet');
  const run = await startRun(own, session, 'x');
  const leg = await puppet.leg();
  const stopped = own.stop(60_000);
  const params = own.quickstart;
  const given = { name: 'convoke_wait', arguments: { run_id: run.id } };
  const id = Buffer.from(JSON.stringify([run.id, 1, '', ''])).toString('base64url');
  for (const refused of [
    await own.refused('call_mcp', { params, body: old('tools/call', given) }),
    await own.refused('resume_mcp', { params, headers: { 'last-event-id': id } }),
  ]) {
    expect(refused).toMatchObject({ status: 503, error: 'not_ready' });
  }
  leg.end();
  await stopped;
});
