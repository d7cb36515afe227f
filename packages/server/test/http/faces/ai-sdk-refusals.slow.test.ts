import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { begin, openSession, runIn, startRun } from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';

const poor = {
  description: 'Uses tokens',
  script: [{ use: { input_tokens: 9, output_tokens: 1 } }],
};
const kibibyte = 1024;

let server: TestServer;
beforeAll(async () => {
  const env = {
    CONVOKE_MAX_FILE_BYTES: String(2 * kibibyte),
    CONVOKE_TENANT_STORAGE_BYTES: String(64 * kibibyte),
  };
  server = await startServer({ agents: { ...usualAgents, poor }, env });
});

type Message = Readonly<Record<string, unknown>>;
const part = (text: string) => ({ type: 'text', text });
const user = (parts: readonly object[], id: string = randomUUID()): Message => ({
  id,
  role: 'user',
  parts,
});
const said = (text: string) => user([part(text)]);

function send(sessionId: string, message: Message | undefined, more: object = {}) {
  const messages = message === undefined ? [] : [message];
  return server.refused('send_ui_message', {
    params: { session_id: sessionId },
    body: { messages, ...more },
  });
}

const dataFile = (bytes: number) => ({
  type: 'file',
  mediaType: 'text/plain',
  filename: 'a.txt',
  url: `data:text/plain;base64,${Buffer.alloc(bytes, 'x').toString('base64')}`,
});

/** A run that waits, and its interaction. */
async function waiting(agent: string) {
  const { session, run } = await begin(server, agent);
  await runIn(server, run, 'waiting');
  const params = { session_id: session.id };
  const [asked] = (await server.send('list_interactions', { params })).body.interactions;
  return { id: session.id, key: asked?.interaction_key ?? '' };
}

const approval = (id: string, more: object = {}): Message => ({
  id: 'run',
  role: 'assistant',
  parts: [
    {
      type: 'dynamic-tool',
      toolName: 'write_file',
      toolCallId: 'c',
      state: 'approval-responded',
      approval: { id, approved: true, ...more },
    },
  ],
});

const answer = (toolCallId: string, output: unknown): Message => ({
  id: 'run',
  role: 'assistant',
  parts: [{ type: 'tool-ask_user', toolCallId, state: 'output-available', output }],
});

test('a message that says nothing is invalid_body, and says why', async () => {
  const { id } = await openSession(server, 'echo');
  for (const [message, words] of [
    [undefined, 'messages'],
    [{ id: 'm', role: 'system', parts: [part('x')] }, 'must have the role'],
    [{ id: 'm', role: 'user' }, 'no parts'],
    [{ role: 'user', parts: [part('x')] }, 'no id'],
    [{ id: 'm'.repeat(201), role: 'user', parts: [part('x')] }, 'no id'],
    [user([]), 'neither text, nor a file, nor data'],
    [user([part('')]), 'neither text, nor a file, nor data'],
    [user(Array.from({ length: 201 }, () => part('x'))), '200 parts'],
    [user([{ type: 'file', mediaType: 'text/plain' }]), 'without a url'],
    [user([{ ...dataFile(1), url: 'https://example.com/a.txt' }]), 'neither one of this session'],
    [user([{ ...dataFile(1), url: 'data:text/plain,%zz' }]), 'data: URL'],
    [user([{ ...dataFile(1), filename: '../a' }]), 'name'],
    [{ id: 'r', role: 'assistant', parts: [part('x')] }, 'answers no interaction'],
    [approval('intr_none'), 'answers no interaction'],
  ] as const) {
    const because = expect.stringContaining(words);
    expect(await send(id, message)).toMatchObject({ error: 'invalid_body', message: because });
  }
});

test('history is not rewritten: regenerate is not_supported, an edit is a conflict', async () => {
  const { id } = await openSession(server, 'echo');
  expect(await send(id, said('x'), { trigger: 'regenerate-message' })).toMatchObject({
    error: 'not_supported',
  });
  const body = { messages: [user([part('x')], 'one')] };
  (await server.stream(`/v1/sessions/${id}/ai-sdk`, { method: 'POST', body })).close();
  expect(await send(id, user([part('y')], 'one'))).toMatchObject({ error: 'idempotency_conflict' });
  const edited = user([dataFile(1), part('y')], 'one');
  expect(await send(id, edited)).toMatchObject({ error: 'idempotency_conflict' });
});

test('a session takes a message only if it can answer it', async () => {
  const asked = await waiting('asker');
  const because = expect.stringContaining('waits for an answer');
  const busy = { error: 'session_busy', message: because };
  expect(await send(asked.id, said('x'))).toMatchObject(busy);
  const { session } = await begin(server, 'busy');
  expect(await send(session.id, said('x'))).toMatchObject({ error: 'session_busy' });
  for (const [mode, code] of [
    ['suspend', 'session_stopped'],
    ['terminate', 'session_terminal'],
  ] as const) {
    const { id } = await openSession(server, 'echo');
    await server.send('stop_session', { params: { session_id: id }, body: { mode } });
    expect(await send(id, said('x'))).toMatchObject({ error: code });
  }
  await server.writeAgent('brief', usualAgents.echo);
  const brief = await eventually(() => openSession(server, 'brief'));
  await server.removeAgent('brief');
  const gone = async () =>
    (await server.refused('get_agent', { params: { agent_name: 'brief' } })).error;
  await eventually(async () => (await gone()) === 'agent_not_found');
  expect(await send(brief.id, said('x'))).toMatchObject({ error: 'agent_not_found' });
});

test('an answer of the wrong shape is invalid_answer, and the interaction waits on', async () => {
  const question = await waiting('asker');
  expect(await send(question.id, answer(question.key, 7))).toMatchObject({
    error: 'invalid_answer',
  });
  expect(await send(question.id, answer(question.key, ['a', 'b']))).toMatchObject({
    error: 'invalid_answer',
  });
  expect(await send(question.id, answer(question.key, 'x'.repeat(100_001)))).toMatchObject({
    error: 'invalid_answer',
  });
  const permission = await waiting('writer');
  const long = approval(permission.key, { reason: 'x'.repeat(3000) });
  expect(await send(permission.id, long)).toMatchObject({ error: 'invalid_answer' });
  // An interaction of another session is none of this one's.
  expect(await send(question.id, approval(permission.key))).toMatchObject({
    error: 'invalid_body',
  });
  const params = { session_id: question.id };
  expect((await server.send('list_interactions', { params })).body.interactions).toHaveLength(1);
});

test('answers and files need their own scopes', async () => {
  const asked = await waiting('asker');
  const { id } = await openSession(server, 'echo');
  const { tenant_id } = server.quickstart;
  const client = await addClient(server, {
    profile: 'custom',
    scopes: ['runs:read', 'runs:write'],
    tenant_ids: [tenant_id],
  });
  const as = client.in(tenant_id);
  for (const [session_id, message] of [
    [asked.id, answer(asked.key, 'red')],
    [id, user([dataFile(1)])],
  ] as const) {
    const body = { messages: [message] };
    const refused = await server.refused('send_ui_message', { as, params: { session_id }, body });
    expect([refused.status, refused.error]).toEqual([403, 'insufficient_scope']);
  }
  // A message that answers nothing needs none.
  const body = { messages: [{ id: 'r', role: 'assistant', parts: [part('x')] }] };
  const params = { session_id: asked.id };
  const refused = await server.refused('send_ui_message', { as, params, body });
  expect(refused.error).toBe('invalid_body');
});

test('a message of 200 parts is taken, and a file of another session is not', async () => {
  const { id } = await openSession(server, 'echo');
  const { id: other } = await openSession(server, 'echo');
  const params = { session_id: other };
  const { body } = await server.send('prepare_file', { params, body: { name: 'a' } });
  const because = expect.stringContaining('neither one of this session');
  for (const [owner, file] of [
    [other, body.id],
    [id, 'a%20b'],
  ]) {
    const url = `/v1/sessions/${owner}/files/${file}/content`;
    const message = user([{ type: 'file', mediaType: 'text/plain', url }]);
    expect(await send(id, message)).toMatchObject({ error: 'invalid_body', message: because });
  }
  const messages = [user(Array.from({ length: 200 }, () => part('x')))];
  const stream = await server.stream(`/v1/sessions/${id}/ai-sdk`, {
    method: 'POST',
    body: { messages },
  });
  stream.close();
  expect(stream.headers.get('x-run-id')).toMatch(/^run_/);
});

test('files are bounded as those that are uploaded', async () => {
  const { id: without } = await openSession(server, 'asker');
  expect(await send(without, user([dataFile(1)]))).toMatchObject({ error: 'files_unavailable' });
  const { id } = await openSession(server, 'echo');
  expect(await send(id, user([dataFile(2 * kibibyte + 1)]))).toMatchObject({
    error: 'file_too_large',
  });
  const params = { session_id: id };
  const { body } = await server.send('prepare_file', { params, body: { name: 'a' } });
  const url = `/v1/sessions/${id}/files/${body.id}/content`;
  const pending = user([{ type: 'file', mediaType: 'text/plain', url }]);
  expect(await send(id, pending)).toMatchObject({ error: 'file_not_ready' });
  const { id: next } = await openSession(server, 'echo');
  await eventually(async () => {
    const body = { name: 'a', size_bytes: 2 * kibibyte };
    return (await server.call('POST', `/v1/sessions/${next}/files`, { body })).status === 409;
  });
  expect(await send(next, user([dataFile(2 * kibibyte)]))).toMatchObject({
    error: 'storage_limit_reached',
  });
});

test('budgets hold for messages too', async () => {
  const { organization_id } = server.quickstart;
  const set = (id: string, ceiling: object) =>
    server.send('set_budget', {
      params: { organization_id },
      headers: { 'idempotency-key': randomUUID() },
      body: { scope: { kind: 'agent', id }, period: 'total', ...ceiling },
    });
  await set('poor', { max_tokens: 5 });
  const { id } = await openSession(server, 'poor');
  await runIn(server, await startRun(server, { id }, 'x'), 'failed');
  expect(await send(id, said('x'))).toMatchObject({ error: 'budget_exhausted' });
  await set('dear', { max_cost: 5_000_000 });
  await server.writeAgent('dear', { ...poor, model: 'm' });
  const dear = await eventually(() => openSession(server, 'dear'));
  expect(await send(dear.id, said('x'))).toMatchObject({ error: 'unpriced_model' });
});
