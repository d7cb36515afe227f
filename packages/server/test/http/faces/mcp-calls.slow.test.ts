// Calls of agents by MCP, one test for each condition that the clients of others do not meet (D-612 to D-617).
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { openSession, runIn, startRun } from '../../support/api-steps.ts';
import { FakeClock, MovingClock } from '../../support/clocks.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import type { Puppet } from '../../support/puppet-harness.ts';
import { startPuppetServer } from '../../support/puppet-server.ts';
import { type TestServer, requestToken, selecting, startServer } from '../../support/server.ts';
import { type Sent, envelope, headersOf, old, placeOf, postTo, recent } from './mcp-posts.ts';

/** Its call may be allowed by an admin only. */
const governed = {
  description: 'Writes when an admin allows it',
  rules: [{ name: 'notes', tools: ['write_file'], effect: 'ask', approvers: { role: 'admin' } }],
  script: [{ tool: { name: 'write_file', input: { path: 'note.txt', text: 'x' } } }],
};

let server: TestServer;
let puppet: Puppet;
beforeAll(async () => {
  ({ server, puppet } = await startPuppetServer({ agents: { ...usualAgents, governed } }));
});

const post = (body: unknown, sent?: Sent) => postTo(server, body, sent);
const call = (name: string, given: object, sent?: Sent) =>
  post(old('tools/call', { name, arguments: given }), sent);
/** A run of the agent that waits for a person. */
async function waiting(agent: string) {
  const { text } = await call(agent, { prompt: 'you' });
  const [, session_id = '', run_id = ''] = /"session_id":"(\w+)","run_id":"(\w+)"/.exec(text) ?? [];
  const { body } = await server.send('list_interactions', { params: { session_id } });
  return { session_id, run_id, key: body.interactions[0]?.interaction_key ?? '' };
}
const statusOf = async ({ session_id }: { readonly session_id: string }) => {
  const asked = { params: { session_id }, query: { status: 'all' } } as const;
  return (await server.send('list_interactions', asked)).body.interactions[0]?.status;
};
type Run = Awaited<ReturnType<typeof startRun>>;
type Waited = { readonly text: string };
const streamed = { accept: 'text/event-stream' };

describe('the form of a response', () => {
  const typeOf = async (body: unknown, headers: Record<string, string>) => {
    const { organization_id, tenant_id } = placeOf(server);
    const path = `/v1/mcp/${organization_id}/${tenant_id}`;
    const answer = await server.call('POST', path, { body, headers });
    expect(answer.text).toContain('x (run 1)');
    return [answer.headers.get('content-type')?.split(';')[0], /^id: /m.test(answer.text)];
  };
  const echo = { name: 'echo', arguments: { prompt: 'x' } };
  const meta = (progressToken: unknown) => ({ ...envelope, progressToken });
  const [json, stream] = ['application/json', 'text/event-stream'];

  test.each<readonly [string, unknown, Record<string, string>, string, boolean]>([
    ['older, without streams', old('tools/call', echo), {}, json, false],
    ['older, with streams', old('tools/call', echo), streamed, stream, true],
    ['newer, without progress', recent('tools/call', echo), streamed, json, false],
    [
      'newer, with progress of no form',
      recent('tools/call', echo, meta({})),
      streamed,
      json,
      false,
    ],
    ['newer, with progress', recent('tools/call', echo, meta('t')), streamed, stream, false],
    ['newer, with a number for it', recent('tools/call', echo, meta(0)), streamed, stream, false],
    ['newer, with progress, without streams', recent('tools/call', echo, meta(0)), {}, json, false],
  ])(
    'is that of the era and of the client: %s',
    async (era, ...[body, headers, type, hasPlace]) => {
      const named = era.startsWith('newer') ? headersOf('tools/call', 'echo') : {};
      expect(await typeOf(body, { ...named, ...headers })).toEqual([type, hasPlace]);
    },
  );
});

describe('who may answer', () => {
  const filled = { action: 'accept', content: { answer: 'red' } };
  const responseTo = ({ session_id, key }: { session_id: string; key: string }) => ({
    jsonrpc: '2.0',
    id: `${session_id}/${key}`,
    result: filled,
  });
  const placed = (run: string, flags: string) =>
    Buffer.from(JSON.stringify([run, 1, flags, ''])).toString('base64url');

  test('is asked when a stream is resumed, and no one else is', async () => {
    const asked = await waiting('asker');
    const scopes = ['agents:read', 'runs:read'] as const;
    const reader = await addClient(server, { profile: 'custom', scopes });
    const { organization_id, tenant_id } = placeOf(server);
    const path = `/v1/mcp/${organization_id}/${tenant_id}`;
    const headers = { ...streamed, 'last-event-id': placed(asked.run_id, 'f') };
    const as = reader.in(tenant_id);
    const told = await server.call('GET', path, { headers, as });
    expect(told.text).toContain('"status":"waiting"');
    expect(told.text).not.toContain('elicitation');
    const refused = await server.refused('call_mcp', {
      params: placeOf(server),
      as,
      headers: { 'mcp-session-id': 'mcp_x.f' },
      body: responseTo(asked),
    });
    expect(refused.error).toBe('insufficient_scope');
    expect(await statusOf(asked)).toBe('pending');
    // A client without means gets the result, too; one with forms the form.
    const none = { ...streamed, 'last-event-id': placed(asked.run_id, '') };
    expect((await server.call('GET', path, { headers: none })).text).not.toContain('elicitation');
    const gone = new AbortController();
    const open = await server.fetch('GET', path, { headers, signal: gone.signal });
    let text = '';
    for await (const part of open.body ?? []) {
      text += Buffer.from(part).toString();
      if (text.includes('elicitation/create')) break;
    }
    gone.abort();
    expect(text).toContain(`"id":"${asked.session_id}/${asked.key}"`);
  });

  test.each([
    ['mcp_x.', 'pending'],
    ['mcp_x.u', 'pending'],
    ['mcp_x.f', 'answered'],
    ['mcp_x.fu', 'answered'],
  ])('answers in a form only where the client has forms: %s', async (client, status) => {
    const asked = await waiting('asker');
    const headers = { 'mcp-session-id': client };
    expect((await post(responseTo(asked), { headers })).status).toBe(202);
    expect(await statusOf(asked)).toBe(status);
    // The same again, and one about a request that there never was, change nothing.
    expect((await post(responseTo(asked), { headers })).status).toBe(202);
    expect((await post(responseTo({ ...asked, key: 'int_x' }), { headers })).status).toBe(202);
  });

  test('answers the request that the response names, and no other', async () => {
    const session = await openSession(server, 'puppet');
    await startRun(server, session, 'x');
    const leg = await puppet.leg();
    leg.emit({ type: 'user_question', ref: 'a', question: 'First?' });
    leg.emit({ type: 'user_question', ref: 'b', question: 'Second?' });
    leg.end('waiting');
    const asked = {
      params: { session_id: session.id },
      query: { status: 'all', order: 'asc' },
    } as const;
    const asks = await eventually(async () => {
      const { interactions } = (await server.send('list_interactions', asked)).body;
      return interactions.length === 2 ? interactions : undefined;
    });
    const second = { session_id: session.id, key: asks[1]?.interaction_key ?? '' };
    const headers = { 'mcp-session-id': 'mcp_x.f' };
    expect((await post(responseTo(second), { headers })).status).toBe(202);
    const { interactions } = (await server.send('list_interactions', asked)).body;
    expect(interactions.map(({ status }) => status)).toEqual(['pending', 'answered']);
  });

  test('an answer that is refused leaves its request, and is no error of the response', async () => {
    const asked = await waiting('governed');
    const result = { action: 'accept', content: { decision: 'allow' } };
    const headers = { 'mcp-session-id': 'mcp_x.f' };
    const { status } = await post({ ...responseTo(asked), result }, { headers });
    expect([status, await statusOf(asked)]).toEqual([202, 'pending']);
  });

  test('a round of the newer era takes the responses that are some', async () => {
    const able = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const asked = await waiting('asker');
    const round = async (more: object) => {
      const params = { name: 'asker', requestState: asked.run_id, ...more };
      const headers = headersOf('tools/call', 'asker');
      return (await post(recent('tools/call', params, able), { headers })).text;
    };
    for (const inputResponses of [
      undefined,
      [filled],
      {},
      { [asked.key]: 'red' },
      { int_x: filled },
    ]) {
      expect(await round({ inputResponses })).toContain('input_required');
    }
    expect(await statusOf(asked)).toBe('pending');
    expect(await round({ inputResponses: { [asked.key]: filled } })).toContain('You said red.');
  });
});

describe('a tool', () => {
  test.each<readonly [string, object, string]>([
    ['echo', { prompt: 'x', session_id: null }, 'x (run 1)'],
    ['echo', { prompt: ' ' }, 'prompt must be a string'],
    ['echo', { prompt: 'x', session_id: 7 }, 'session_id must be a string'],
    ['echo', { prompt: 'x', session_id: 'sess x' }, 'echo has no session sess x.'],
    ['convoke_wait', { run_id: 'run x' }, 'There is no run run x.'],
    ['convoke_wait', {}, 'run_id must be a string'],
    ['convoke_answer', { run_id: 'run_x', answer: 'a' }, 'There is no run run_x.'],
  ])('%s with %o says: %s', async (name, given, said) => {
    expect((await call(name, given)).text).toContain(said);
  });

  test('continues a session of its own agent only', async () => {
    const { session_id, run_id } = await waiting('asker');
    const other = await call('echo', { prompt: 'x', session_id });
    expect(other.text).toContain(`echo has no session ${session_id}.`);
    const behind = await call('asker', { prompt: 'x', session_id });
    expect(behind.message?.result).toMatchObject({ isError: true });
    await call('convoke_cancel', { run_id });
    expect((await call('asker', { prompt: 'you', session_id })).text).toContain('waiting');
  });

  test('passes on an answer only where a question of the agent waits for one', async () => {
    const { text } = await call('echo', { prompt: 'x' });
    const [, run_id = ''] = /"run_id":"(\w+)"/.exec(text) ?? [];
    const late = await call('convoke_answer', { run_id, answer: 'red' });
    expect(late.text).toContain('The run waits for no answer that you may pass on.');
    const asked = await waiting('asker');
    const blank = await call('convoke_answer', { run_id: asked.run_id, answer: ' ' });
    expect(blank.text).toContain('answer must be a string');
    // Under a key that claimed another question, and for a question that is none.
    const headers = { 'idempotency-key': 'answer-x' };
    const none = await call('convoke_answer', { run_id, answer: 'red' }, { headers });
    expect(none.text).toContain('The run waits for no answer');
    expect(await statusOf(asked)).toBe('pending');
  });

  test.each([7, 'text'])('that waits is left by its id, %o, and its run continues', async (id) => {
    const run = await startRun(server, await openSession(server, 'sleeper'), 'x');
    await runIn(server, run, 'running');
    const { organization_id, tenant_id } = placeOf(server);
    const path = `/v1/mcp/${organization_id}/${tenant_id}`;
    const client = { 'mcp-session-id': `mcp_${id}.` };
    const wait = {
      ...old('tools/call', { name: 'convoke_wait', arguments: { run_id: run.id } }),
      id,
    };
    const open = await server.fetch('POST', path, {
      body: wait,
      headers: { ...streamed, ...client },
    });
    // Its place is there, so the call waits.
    const reader = open.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('id: ')) text += (await reader?.read())?.value ?? '';
    const leave = (requestId: unknown, headers: Record<string, string>) =>
      post(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
        { headers },
      );
    for (const [other, headers] of [
      [String(id) === id ? 7 : '7', client],
      [{}, client],
      [id, {}],
      [id, { 'mcp-session-id': 'mcp_other.' }],
    ] as const) {
      expect((await leave(other, headers)).status).toBe(202);
    }
    expect((await leave(id, client)).status).toBe(202);
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      text += part.value;
    }
    expect(text).toContain('"status":"running"');
    await call('convoke_cancel', { run_id: run.id });
  });

  test('that cancels returns the end, also of a run that asks while it works', async () => {
    const session = await openSession(server, 'puppet');
    const run = await startRun(server, session, 'x');
    const leg = await puppet.leg();
    leg.isObedient = false;
    leg.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    await eventually(async () => (await statusOf({ session_id: session.id })) === 'pending');
    const cancelled = call('convoke_cancel', { run_id: run.id });
    await leg.cancelled.promise;
    leg.end();
    expect((await cancelled).message?.result).toMatchObject({
      structuredContent: { status: 'cancelled' },
    });
  });
});

/** So many requests at once has a rate of 60 a minute. */
const burst = 10;

test('every message costs what a request costs', async () => {
  const clock = new FakeClock();
  const env = { CONVOKE_API_RATE_PER_MINUTE: '60' };
  const own = await startServer({ clock, env });
  const given = { name: 'convoke_wait', arguments: { run_id: 'run_x' } };
  const round = recent('tools/call', { ...given, requestState: 'run_x' });
  const recentHeaders = headersOf('tools/call', 'convoke_wait');
  for (const [body, headers] of [
    [old('ping'), {}],
    [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: {} }, {}],
    [{ jsonrpc: '2.0', id: 'x', result: {} }, {}],
    [old('tools/call', given), {}],
    [round, recentHeaders],
    [old('tools/call', { name: 'echo', arguments: { prompt: 'x' } }), {}],
  ] as const) {
    const statuses: number[] = [];
    do statuses.push((await postTo(own, body, { headers })).status);
    while (statuses.at(-1) !== 429 && statuses.length < burst);
    expect([JSON.stringify(body), statuses.length]).toEqual([JSON.stringify(body), burst]);
    expect((await postTo(own, body, { headers })).status).toBe(429);
    // The token would expire with a longer pause.
    clock.advance(60_000);
  }
});

/** A call that waits for a run that continues, at a server whose clock goes to the end of the call's token. */
async function waitingAtTheEnd(
  afterMs: number,
  send: (own: TestServer, run: Run) => Promise<Waited>,
) {
  const clock = new MovingClock();
  const own = await startServer({ clock, agents: usualAgents });
  const session = await openSession(own, 'sleeper');
  const run = await startRun(own, session, 'x');
  await runIn(own, run, 'running');
  const waits = send(own, run);
  const open = async () =>
    (await (await own.fetch('GET', '/metrics')).text()).match(/^convoke_streams_open [1-9]/m);
  await eventually(async () => (await open()) !== null);
  const [, claims = ''] = (own.client.authorization ?? '').split('.');
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
    readonly exp: number;
  };
  clock.advance(exp * 1000 + afterMs - clock.now());
  return { own, run, answer: await waits };
}

test('a call of the newer era has its result before its token expires (D-617)', async () => {
  const { answer } = await waitingAtTheEnd(-1000, (own, { id: run_id }) => {
    const body = recent('tools/call', { name: 'convoke_wait', arguments: { run_id } });
    const headers = headersOf('tools/call', 'convoke_wait');
    return postTo(own, body, { headers, query: '?wait=3600' });
  });
  expect(JSON.parse(answer.text).result).toMatchObject({
    structuredContent: { status: 'running' },
  });
});

test('a stream of the older era that ends with its token has no answer, and another token continues it (D-617)', async () => {
  const pathOf = (own: TestServer) => {
    const { organization_id, tenant_id } = placeOf(own);
    return `/v1/mcp/${organization_id}/${tenant_id}?wait=3600`;
  };
  const { own, run, answer } = await waitingAtTheEnd(0, (at, { id: run_id }) => {
    const body = old('tools/call', { name: 'convoke_wait', arguments: { run_id } });
    return at.call('POST', pathOf(at), { body, headers: streamed });
  });
  expect(answer.text).not.toContain('result');
  const [, place = ''] = /^id: (.+)$/m.exec(answer.text) ?? [];
  const as = selecting(own.quickstart, await requestToken(own.baseUrl, own.quickstart));
  const headers = { ...streamed, 'last-event-id': place };
  const resumed = own.call('GET', pathOf(own), { as, headers });
  const params = { session_id: run.session_id, run_id: run.id };
  await own.send('cancel_run', { as, params });
  const [, message = '{}'] = /^data: (\{.*)$/m.exec((await resumed).text) ?? [];
  expect(JSON.parse(message)).toMatchObject({
    id: 7,
    result: { structuredContent: { run_id: run.id, status: 'cancelled' } },
  });
});
