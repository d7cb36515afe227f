// Requests that the caller of a face may not allow: it sees them, and has no means to allow them.
import type { InteractionRecord, JsonObject, UserId } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { begin, ended, keyOf, pendingIn, runIn } from '../../support/api-steps.ts';
import type { Identity } from '../../support/checked-calls.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { assistantToken } from '../../support/sign-in/assistants.ts';
import { addMember, asPerson } from '../../support/sign-in/console.ts';
import { A2aCalls, said } from './a2a-calls.ts';
import { TestChat } from './chat.ts';
import { type Filled, type ShownForm, mcpClients } from './mcp-clients.ts';
import { TestThread } from './thread.ts';

const writes = (approvers: JsonObject) => ({
  description: 'Writes a note when it may',
  publish: ['a2a'],
  rules: [
    { name: 'notes', tools: ['write_file'], effect: 'ask', reason: 'Notes are public.', approvers },
  ],
  script: [
    { say: 'I write. ' },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: 'hello' } } },
    { say: 'Written.' },
  ],
});
const agents = {
  admins: writes({ role: 'admin' }),
  others: writes({ not_starter: true, clients: true }),
  pages: writes({ role: 'admin', end_users: true }),
};
const why = 'Notes are public. Allowing it needs a person who is admin or owner.';

let server: TestServer;
let person: UserId;
let owner: Identity;
beforeAll(async () => {
  server = await startServer({ agents, env: { CONVOKE_CONSOLE: 'on' } });
  person = await addMember(server, 'owner');
  owner = await asPerson(server, person);
});

/** The same server, as another caller sees it. */
const serverOf = (client: Identity) =>
  ({ baseUrl: server.baseUrl, client }) as unknown as TestServer;
const allow = async (asked: InteractionRecord) => {
  const call = { as: owner, params: keyOf(asked), body: { decision: 'allow' } };
  expect((await server.send('answer_interaction', call)).body.status).toBe('answered');
};
const waitingRun = async (agent: keyof typeof agents = 'admins') => {
  const { run } = await begin(server, agent);
  await runIn(server, run, 'waiting');
  return run;
};

describe('a chat of the AI SDK', () => {
  const chatOf = (sessionId: string, client: Identity) => new TestChat(serverOf(client), sessionId);
  const stateIn = (chat: TestChat) => chat.calls.map(({ state }) => state);

  test('shows the call, sends nothing on its own, and continues when another person has allowed it', async () => {
    const { body: session } = await server.send('create_session', {
      body: { agent_name: 'admins' },
    });
    const chat = new TestChat(server, session.id);
    await chat.sendMessage({ text: 'Write' });
    const asked = await pendingIn(server, session.id);
    expect([chat.posts, stateIn(chat)]).toEqual([1, ['input-available']]);
    expect(chat.lastMessage?.metadata).toMatchObject({
      status: 'waiting',
      waiting: [asked.interaction_key],
    });
    await allow(asked);
    await chat.resumeStream();
    expect([chat.text, stateIn(chat)]).toEqual(['I write. Written.', ['output-available']]);
  });

  test('has the request of a run for a person who may, in the stream and in the history', async () => {
    const { session_id } = await waitingRun();
    const chat = chatOf(session_id, owner);
    await chat.resumeStream();
    expect(stateIn(chat)).toEqual(['approval-requested']);
    const listed = async (as: Identity) => {
      const { body } = await server.send('list_ui_messages', { as, params: { session_id } });
      return JSON.stringify(body.messages);
    };
    expect(await listed(owner)).toContain('approval-requested');
    expect(await listed(server.client)).not.toContain('approval');
  });

  test('has the request for the page of an end user where a rule names end users', async () => {
    for (const [agent, state] of [
      ['pages', 'approval-requested'],
      ['admins', 'input-available'],
    ] as const) {
      const { session_id } = await waitingRun(agent);
      const call = { params: { session_id }, body: {} };
      const { token } = (await server.send('create_session_token', call)).body;
      const chat = chatOf(session_id, { authorization: `Bearer ${token}` });
      await chat.resumeStream();
      expect([agent, stateIn(chat)]).toEqual([agent, [state]]);
    }
  });

  test('of the client that started the run does not have it where a rule excludes the starter', async () => {
    const { session_id } = await waitingRun('others');
    const chat = chatOf(session_id, server.client);
    await chat.resumeStream();
    expect(stateIn(chat)).toEqual(['input-available']);
  });
});

describe('a thread of AG-UI', () => {
  test('gets no interrupt but is told, and may not resume it', async () => {
    const run = await waitingRun();
    const thread = new TestThread(server, `sessions/${run.session_id}`);
    await thread.connectAgent();
    const asked = await pendingIn(server, run.session_id);
    const { interaction_key } = asked;
    expect([thread.outcome, thread.pendingInterrupts]).toEqual(['success', []]);
    expect(thread.custom).toContainEqual({
      name: 'convoke.waiting',
      value: expect.objectContaining({
        interaction_key,
        tool_name: 'write_file',
        rules: [{ source: 'agent', name: 'notes', reason: 'Notes are public.' }],
        approvers: expect.objectContaining({ role: 'admin' }) as unknown,
      }) as unknown,
    });
    const interrupt = {
      interruptId: interaction_key,
      status: 'resolved',
      payload: { approved: true },
    };
    const body = { threadId: 't', runId: 'r', messages: [], resume: [interrupt] };
    const { text } = await server.call('POST', `/v1/sessions/${run.session_id}/ag-ui`, { body });
    expect(text).toContain('"type":"RUN_ERROR"');
    expect(text).toContain('"code":"not_an_approver"');
    await allow(asked);
    expect((await ended(server, run)).status).toBe('completed');
  });

  test('of a person who may allow gets the interrupt, and resumes it', async () => {
    const run = await waitingRun();
    const thread = new TestThread(serverOf(owner), `sessions/${run.session_id}`);
    await thread.connectAgent();
    expect(thread.outcome).toBe('interrupt');
    await thread.answer(() => ({ approved: true }));
    expect([thread.outcome, thread.text]).toEqual(['success', 'I write. Written.']);
  });
});

describe('a task of A2A', () => {
  test('works on while other people decide, says who, and takes no allow', async () => {
    const calls = new A2aCalls(server);
    const task = await calls.task(said('Write'), { agent: 'admins' });
    const message = { parts: [{ text: `The call of write_file waits for permission. ${why}` }] };
    const status = { state: 'TASK_STATE_WORKING', message };
    expect(task.status).toMatchObject(status);
    const read = await calls.call('GetTask', { id: task.id }, { agent: 'admins' });
    expect(read.result?.['status']).toMatchObject(status);
    const asked = await pendingIn(server, task.contextId);
    const data = { interaction_key: asked.interaction_key, decision: 'allow' };
    const answer = said('', { taskId: task.id, parts: [{ data }] });
    const refused = await calls.call('SendMessage', answer, { agent: 'admins' });
    expect(refused.error).toMatchObject({ code: -32004, data: [{ reason: 'NOT_AN_APPROVER' }] });
    expect(JSON.stringify(refused.error?.message)).toContain('a person who is admin or owner');
    await allow(asked);
    const run = { id: task.id, session_id: task.contextId };
    expect((await ended(server, run)).output_text).toBe('I write. Written.');
  });

  test('needs input of a person who may allow, and takes it', async () => {
    const calls = new A2aCalls(server);
    const more = { agent: 'admins', as: owner };
    const task = await calls.task(said('Write'), more);
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const [, { data: { interaction_key = '' } = {} } = {}] = task.status.message?.parts ?? [];
    const data = { interaction_key, decision: 'allow' };
    const done = await calls.task(said('', { taskId: task.id, parts: [{ data }] }), more);
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe.each(Object.entries(mcpClients))('a tool of MCP for %s', (_, connectTo) => {
  const connect = async (identity: Identity, forms: ShownForm[]) => {
    const { organization_id, tenant_id } = server.quickstart;
    const url = `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}`;
    const fill = (form: ShownForm): Filled => {
      forms.push(form);
      return { action: 'accept', content: { decision: 'allow' } };
    };
    const assistant = await connectTo({
      url,
      headers: { ...identity },
      fill,
      modes: ['form', 'url'],
    });
    onTestFinished(() => assistant.close());
    return assistant;
  };

  test('shows a form to a person who may allow, and to others the reason and where to decide', async () => {
    const forms: ShownForm[] = [];
    const waits = await (await connect(server.client, forms)).call('admins', { prompt: 'Write' });
    expect(waits.structuredContent).toMatchObject({ status: 'waiting' });
    const text = waits.content.map((part) => part.text).join('\n');
    expect(text).toContain(why);
    expect(text).toMatch(/decide at http:\S+\/console\//);
    expect(forms).toEqual([]);
    const as = bearer(await assistantToken(server, person));
    const done = await (await connect(as, forms)).call('admins', { prompt: 'Write' });
    expect(done.structuredContent).toMatchObject({ status: 'completed' });
    expect(forms.map(({ message }) => message)).toEqual([expect.stringContaining(why)]);
  });
});
