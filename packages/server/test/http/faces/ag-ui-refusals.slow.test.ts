import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { begin, openSession, runIn, startRun } from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { TestThread } from './thread.ts';

const poor = {
  description: 'Uses tokens',
  script: [{ use: { input_tokens: 9, output_tokens: 1 } }],
};
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ agents: usualAgents });
});

const dashed = (name: string) => name.replaceAll('_', '-');
const user = (content: unknown) => ({ id: randomUUID(), role: 'user', content });

function bodyOf(more: object = {}) {
  return { threadId: randomUUID(), runId: randomUUID(), messages: [user('x')], ...more };
}

/** Both operations, on a session of the agent. */
const places = {
  run_ag_ui: (session: { id: string }, agent_name: string, body: object) =>
    server.refused('run_ag_ui', {
      params: { agent_name },
      body: { ...body, threadId: session.id },
    }),
  run_session_ag_ui: (session: { id: string }, _agent: string, body: object) =>
    server.refused('run_session_ag_ui', { params: { session_id: session.id }, body }),
};

describe.each(Object.keys(places) as (keyof typeof places)[])('%s', (place) => {
  const send = (session: { id: string }, agent: string, body: object) =>
    places[place](session, agent, body);

  test('refuses a body that AG-UI does not know, and says why', async () => {
    const session = await openSession(server, 'echo');
    for (const [more, code, words] of [
      [{ runId: undefined }, 'invalid_body', 'runId'],
      [{ runId: '' }, 'invalid_body', 'runId'],
      [{ runId: 'r'.repeat(201) }, 'invalid_body', 'runId'],
      [{ messages: undefined }, 'invalid_body', 'messages'],
      [{ messages: Array.from({ length: 2001 }, () => user('x')) }, 'invalid_body', 'messages'],
      [{ messages: [user('')] }, 'invalid_body', 'no text'],
      [{ messages: [user(7)] }, 'invalid_body', 'no text'],
      [{ messages: [user([])] }, 'invalid_body', 'no text'],
      [{ messages: [user([{ type: 'image', source: {} }])] }, 'not_supported', 'text only'],
      [{ resume: [{ interruptId: 'i' }] }, 'invalid_body', 'status'],
      [
        { resume: [{ interruptId: 'i'.repeat(201), status: 'cancelled' }] },
        'invalid_body',
        'resume',
      ],
    ] as const) {
      const message = expect.stringContaining(words);
      expect(await send(session, 'echo', bodyOf(more))).toMatchObject({
        status: 400,
        error: code,
        message,
      });
    }
  });

  test('a session takes a message only if it can answer it', async () => {
    const { session: busy } = await begin(server, 'busy');
    expect(await send(busy, 'busy', bodyOf())).toMatchObject({
      status: 409,
      error: 'session_busy',
    });
    for (const [mode, code] of [
      ['suspend', 'session_stopped'],
      ['terminate', 'session_terminal'],
    ] as const) {
      const session = await openSession(server, 'echo');
      await server.send('stop_session', { params: { session_id: session.id }, body: { mode } });
      expect(await send(session, 'echo', bodyOf())).toMatchObject({ status: 409, error: code });
    }
    const session = await openSession(server, 'echo');
    await runIn(server, await startRun(server, session, 'x'), 'completed');
    const body = bodyOf({ runId: 'one' });
    const [path, threadId] = [`/v1/sessions/${session.id}/ag-ui`, session.id];
    (await server.stream(path, { method: 'POST', body: { ...body, threadId } })).close();
    const edited = { ...body, messages: [user('y')] };
    expect(await send(session, 'echo', edited)).toMatchObject({ error: 'idempotency_conflict' });
  });

  test('an agent that is gone answers nothing', async () => {
    const name = `brief-${dashed(place)}`;
    await server.writeAgent(name, usualAgents.echo);
    const brief = await eventually(() => openSession(server, name));
    await server.removeAgent(name);
    const params = { agent_name: name };
    await eventually(
      async () => (await server.refused('get_agent', { params })).error === 'agent_not_found',
    );
    expect(await send(brief, name, bodyOf())).toMatchObject({ error: 'agent_not_found' });
  });

  test('budgets hold', async () => {
    const { organization_id } = server.quickstart;
    const set = (id: string, ceiling: object) =>
      server.send('set_budget', {
        params: { organization_id },
        headers: { 'idempotency-key': randomUUID() },
        body: { scope: { kind: 'agent', id }, period: 'total', ...ceiling },
      });
    const [poorer, dear] = [`poor-${dashed(place)}`, `dear-${dashed(place)}`];
    await set(poorer, { max_tokens: 5 });
    await server.writeAgent(poorer, poor);
    const session = await eventually(() => openSession(server, poorer));
    await runIn(server, await startRun(server, session, 'x'), 'failed');
    expect(await send(session, poorer, bodyOf())).toMatchObject({ error: 'budget_exhausted' });
    await set(dear, { max_cost: 5_000_000 });
    await server.writeAgent(dear, { ...poor, model: 'm' });
    const costly = await eventually(() => openSession(server, dear));
    expect(await send(costly, dear, bodyOf())).toMatchObject({ error: 'unpriced_model' });
  });

  test('answers need a scope of their own', async () => {
    const { session, run } = await begin(server, 'asker');
    await runIn(server, run, 'waiting');
    const { tenant_id } = server.quickstart;
    const client = await addClient(server, {
      profile: 'custom',
      scopes: ['sessions:write', 'runs:read', 'runs:write'],
      tenant_ids: [tenant_id],
    });
    const as = client.in(tenant_id);
    const resume = [{ interruptId: 'intr_1', status: 'cancelled' }];
    const body = bodyOf({ threadId: session.id, resume });
    const refused =
      place === 'run_ag_ui'
        ? await server.refused(place, { as, params: { agent_name: 'asker' }, body })
        : await server.refused(place, { as, params: { session_id: session.id }, body });
    expect([refused.status, refused.error]).toEqual([403, 'insufficient_scope']);
  });
});

test('an ended session of a thread is not begun again', async () => {
  const thread = new TestThread(server, 'agents/echo');
  await thread.say('hello');
  const { body: run } = await server.send('find_run', { params: { run_id: thread.runId } });
  const params = { session_id: run.session_id };
  await server.send('stop_session', { params, body: { mode: 'terminate' } });
  // The text of our refusals is what the library's error says.
  await expect(thread.say('again')).rejects.toThrow(/HTTP 409.*session_terminal/);
  await thread.connectAgent();
  expect(thread.text).toBe('hello (run 1)');
});

describe('what the protocol calls an error is one of the run, and changes nothing (D-213)', () => {
  const errorOf = ({ failed, types }: TestThread) => [types, failed?.code];
  const failed = (code: string) => [['RUN_STARTED', 'RUN_ERROR'], code];

  async function waiting(agent: string) {
    const thread = new TestThread(server, `agents/${agent}`);
    await thread.say('x');
    return thread;
  }

  const isStillAsked = async (thread: TestThread, agent: string) => {
    const other = new TestThread(server, `agents/${agent}`, { threadId: thread.threadId });
    await other.connectAgent();
    expect(other.pendingInterrupts).toEqual(thread.pendingInterrupts);
    return other;
  };

  test('an interrupt that is unknown, of another thread, or of no thread', async () => {
    const [thread, other] = [await waiting('asker'), await waiting('asker')];
    const fresh = new TestThread(server, 'agents/asker');
    for (const [from, id] of [
      [thread, 'intr_none'],
      [thread, 'no id of ours'],
      [thread, other.pendingInterrupts[0]?.id ?? ''],
      [fresh, other.pendingInterrupts[0]?.id ?? ''],
    ] as const) {
      const known = from.pendingInterrupts;
      from.pendingInterrupts = [];
      await from.runAgent({ resume: [{ interruptId: id, status: 'cancelled' }] });
      expect(errorOf(from)).toEqual(failed('not_found'));
      from.pendingInterrupts = known;
    }
    await isStillAsked(thread, 'asker');
    await isStillAsked(other, 'asker');
  });

  test('an answer of the wrong shape', async () => {
    const question = await waiting('asker');
    for (const payload of [
      {},
      { answer: 7 },
      { answer: ['a', 'b'] },
      { answer: 'x'.repeat(100_001) },
    ]) {
      await question.answer(() => payload);
      expect(errorOf(question)).toEqual(failed('invalid_answer'));
    }
    await isStillAsked(question, 'asker');
    const permission = await waiting('writer');
    for (const payload of [
      {},
      { approved: 'yes' },
      { approved: true, editedArgs: 'all' },
      { approved: false, editedArgs: {} },
      { approved: true, message: 'x'.repeat(3000) },
    ]) {
      await permission.answer(() => payload);
      expect(errorOf(permission)).toEqual(failed('invalid_answer'));
    }
    await isStillAsked(permission, 'writer');
  });

  test('a message while the agent waits', async () => {
    const thread = await waiting('asker');
    const other = new TestThread(server, 'agents/asker', { threadId: thread.threadId });
    await other.say('hello?');
    expect(errorOf(other)).toEqual(failed('session_busy'));
    expect(other.failed?.message).toContain('waits for an answer');
    await isStillAsked(thread, 'asker');
  });
});
