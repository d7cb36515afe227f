import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { openSession, runIn, startRun } from '../../support/api-steps.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { TestThread } from './thread.ts';

const several = {
  description: 'Asks twice',
  approval_required_tools: ['write_*'],
  script: [
    { use: { input_tokens: 20, output_tokens: 3 } },
    { ask: { question: 'Which?', options: ['a', 'b'] } },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
    { say: 'Written: {{answer}}.' },
  ],
};

/** Calls a tool before it answers. */
const noter = {
  description: 'Writes a note',
  script: [
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
    { say: 'Noted.' },
  ],
};

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe.each(databaseKinds)('AG-UI on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents: { ...usualAgents, several, noter } });
  });

  const open = (agent: string, threadId?: string) =>
    new TestThread(server, `agents/${agent}`, threadId === undefined ? {} : { threadId });

  const sessions = async () => (await server.send('list_sessions', {})).body.sessions.length;

  async function runsOf(thread: TestThread) {
    const run = await server.send('find_run', { params: { run_id: thread.runId } });
    const params = { session_id: run.body.session_id };
    return (await server.send('list_runs', { params })).body.runs;
  }

  /** A page that is loaded again shows the same, except for the ids of what the user wrote. */
  async function isShownAlike(thread: TestThread, agent: string): Promise<TestThread> {
    const other = open(agent, thread.threadId);
    await other.connectAgent();
    const shown = ({ messages }: TestThread) =>
      messages.map((message) => (message.role === 'user' ? message.content : plain(message)));
    expect(shown(other)).toEqual(shown(thread));
    expect(other.pendingInterrupts).toEqual(thread.pendingInterrupts);
    return other;
  }

  test('a thread is a session: its messages start runs in it (D-210, D-211)', async () => {
    const thread = open('echo');
    await thread.say('hello');
    expect([thread.outcome, thread.text]).toEqual(['success', 'hello (run 1)']);
    await thread.say('again');
    expect([thread.outcome, thread.text, thread.messages.length]).toEqual([
      'success',
      'again (run 2)',
      4,
    ]);
    expect(await runsOf(thread)).toHaveLength(2);
    await isShownAlike(thread, 'echo');
  });

  test('the calls of earlier runs are shown when a page is loaded again', async () => {
    const thread = open('noter');
    await thread.say('one');
    await thread.say('two');
    const calls = thread.messages.filter(({ role }) => role === 'tool');
    expect([thread.outcome, calls.length]).toEqual(['success', 2]);
    await isShownAlike(thread, 'noter');
  });

  test('a request that is repeated is the same run, and nothing is said twice', async () => {
    const thread = open('echo');
    await thread.say('hello', 'once');
    const [asked] = thread.messages;
    const again = open('echo', thread.threadId);
    again.setMessages(asked === undefined ? [] : [asked]);
    await again.runAgent({ runId: 'once' });
    expect(plain(again.messages)).toEqual(plain(thread.messages));
    expect(await runsOf(thread)).toHaveLength(1);
    // The same name in another thread is another run.
    const other = open('echo');
    await other.say('hello', 'once');
    expect(other.runId).not.toBe(thread.runId);
  });

  test('an id of a session is a thread of its agent, and of no other', async () => {
    const { id } = await openSession(server, 'echo');
    const thread = open('echo', id);
    await thread.say('hello');
    const { body } = await server.send('list_runs', { params: { session_id: id } });
    expect(body.runs.map((run) => run.id)).toEqual([thread.runId]);
    const body2 = { threadId: id, runId: 'r', messages: [] };
    const refused = await server.refused('run_ag_ui', {
      params: { agent_name: 'asker' },
      body: body2,
    });
    expect([refused.status, refused.error]).toEqual([404, 'not_found']);
  });

  test.each([
    [{ approved: true }, 'note', 'May I? Done.'],
    [
      { approved: true, editedArgs: { path: 'note.txt', text: 'edited' } },
      'edited',
      'May I? Done.',
    ],
    [{ approved: false, message: 'not now' }, undefined, undefined],
    ['cancelled' as const, undefined, undefined],
  ])(
    'the answer %j to a request for approval continues the run (D-211)',
    async (payload, written, said) => {
      const thread = open('writer');
      await thread.say('note');
      expect([thread.outcome, thread.pendingInterrupts.length]).toEqual(['interrupt', 1]);
      const [interrupt] = thread.pendingInterrupts;
      expect(interrupt).toMatchObject({ reason: 'tool_call', toolCallId: thread.calls[0]?.id });
      const waiting = await isShownAlike(thread, 'writer');
      // The page that was loaded again answers, and the other one sees it.
      await waiting.answer(() => payload);
      expect([waiting.failed, waiting.pendingInterrupts]).toEqual([undefined, []]);
      expect(await runsOf(waiting)).toHaveLength(1);
      const read = waiting.calls.find(({ function: { name } }) => name === 'read_file');
      if (written === undefined) {
        expect(waiting.results[0]?.metadata).toEqual({ convoke: { outcome: 'denied' } });
        expect(waiting.results[0]?.content).toContain('denied');
      } else {
        expect(waiting.text).toBe(said);
        expect(waiting.calls[0]?.function.arguments).toContain(written);
        expect(JSON.stringify(waiting.results)).toContain(written);
        expect(waiting.results.map(({ metadata }) => metadata)).toEqual([undefined, undefined]);
      }
      expect(read !== undefined).toBe(written !== undefined);
      await isShownAlike(waiting, 'writer');
    },
  );

  test('a question and an approval after it are answered in the page', async () => {
    const thread = open('several');
    await thread.say('go');
    expect(thread.pendingInterrupts).toMatchObject([
      {
        reason: 'input_required',
        message: 'Which?',
        responseSchema: { properties: { answer: { enum: ['a', 'b'] } } },
      },
    ]);
    await thread.answer(() => ({ answer: 'b' }));
    expect(thread.pendingInterrupts).toMatchObject([{ reason: 'tool_call' }]);
    expect(thread.results[0]?.content).toBe('b');
    await thread.answer(() => ({ approved: true }));
    expect([thread.outcome, thread.text]).toEqual(['success', 'Written: b.']);
    expect(thread.finished?.metadata).toMatchObject({
      convoke: { status: 'completed', usage: { input_tokens: 20, output_tokens: 3 } },
    });
    expect(await runsOf(thread)).toHaveLength(1);
    await isShownAlike(thread, 'several');
  });

  test('a question that is given up is declined', async () => {
    const thread = open('asker');
    await thread.say('you');
    await thread.answer(() => 'cancelled');
    expect([thread.outcome, thread.text]).toEqual(['success', 'Hm. You said .']);
    expect(thread.results[0]?.content).toBe('{"declined":true}');
  });

  test('an answer from elsewhere is not an error: the run continues with it (D-213)', async () => {
    const thread = open('asker');
    await thread.say('you');
    const other = await isShownAlike(thread, 'asker');
    await thread.answer(() => ({ answer: 'red' }));
    await other.answer(() => ({ answer: 'blue' }));
    expect([other.failed, other.text]).toEqual([undefined, 'Hm. You said red.']);
    expect(plain(other.messages.slice(1))).toEqual(plain(thread.messages.slice(1)));
  });

  test('an answer that is sent again continues where the run is', async () => {
    const thread = open('asker');
    await thread.say('you');
    const interruptId = thread.pendingInterrupts[0]?.id ?? '';
    const resume = [{ interruptId, status: 'resolved' as const, payload: { answer: 'red' } }];
    await thread.runAgent({ resume });
    const before = plain(thread.messages);
    await thread.runAgent({ resume });
    expect([plain(thread.messages), thread.outcome]).toEqual([before, 'success']);
  });

  test('a client that lost its connection continues with what it has, or with the whole conversation', async () => {
    const thread = open('asker');
    await thread.say('you');
    const has = structuredClone(thread.messages);
    for (const isAlike of [true, false]) {
      const other = open('asker', thread.threadId);
      // Half of an answer, as a cut connection leaves it.
      const [question, half] = has;
      if (question === undefined || half?.role !== 'assistant') throw new Error('no answer');
      other.setMessages([question, { ...half, content: 'H' }]);
      await (isAlike ? other.runAgent() : other.connectAgent());
      expect(other.messages.map(({ role }) => role)).toEqual(has.map(({ role }) => role));
      expect([other.text, other.pendingInterrupts]).toEqual(['Hm. ', thread.pendingInterrupts]);
    }
    expect(await runsOf(thread)).toHaveLength(1);
  });

  test('a run is cancelled with the API, and abortRun only stops reading', async () => {
    const thread = open('sleeper');
    const sent = thread.say('x');
    await eventually(() => thread.text === 'Zzz');
    thread.abortRun();
    await sent.catch(() => undefined);
    const other = open('sleeper', thread.threadId);
    const following = other.connectAgent();
    await eventually(() => other.text === 'Zzz');
    const { body } = await server.send('list_tenant_runs', { query: { agent_name: 'sleeper' } });
    const [run] = body.runs;
    expect(run?.status).toBe('running');
    const params = { session_id: run?.session_id ?? '', run_id: run?.id ?? '' };
    await server.send('cancel_run', { params });
    await following;
    expect([other.outcome, other.text]).toEqual(['cancelled', 'Zzz']);
  });

  test('a failed run is an error while it fails, and part of the conversation later (D-208)', async () => {
    const thread = open('failing');
    await thread.say('x');
    expect(thread.failed).toMatchObject({ message: 'cannot x', code: 'model_error' });
    const other = open('failing', thread.threadId);
    await other.connectAgent();
    expect([other.failed, other.text]).toEqual([undefined, 'Trying. ']);
    expect(other.finished?.metadata).toMatchObject({
      convoke: { status: 'failed', error_message: 'cannot x' },
    });
  });

  test('a page that opens an unknown thread is shown nothing, and makes no session', async () => {
    const known = await sessions();
    const thread = open('echo');
    await thread.connectAgent();
    expect([thread.types, thread.messages]).toEqual([
      ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'],
      [],
    ]);
    expect(await sessions()).toBe(known);
  });

  test('a page follows the run that waits, not the one behind it', async () => {
    const session = await openSession(server, 'asker');
    const first = await startRun(server, session, 'one');
    await runIn(server, first, 'waiting');
    await startRun(server, session, 'two');
    const thread = open('asker', session.id);
    await thread.connectAgent();
    expect(thread.pendingInterrupts).toHaveLength(1);
    expect([thread.runId, thread.text]).toEqual([first.id, 'Hm. ']);
  });

  test('what is not read is named: tools, state, context, and a message beside answers', async () => {
    const thread = open('asker');
    thread.setState({ page: 1 });
    thread.addMessage({ id: randomUUID(), role: 'user', content: 'you' });
    const tool = { name: 't', description: 'd', parameters: {} };
    const context = [{ description: 'd', value: 'v' }];
    await thread.runAgent({ tools: [tool], context });
    const ignored = () => thread.custom.filter(({ name }) => name === 'convoke.ignored');
    expect(ignored()).toEqual([{ name: 'convoke.ignored', value: ['tools', 'state', 'context'] }]);
    thread.setState({});
    thread.addMessage({ id: randomUUID(), role: 'user', content: 'and this' });
    await thread.answer(() => ({ answer: 'red' }));
    expect(ignored().at(-1)?.value).toEqual(['messages']);
    expect(await runsOf(thread)).toHaveLength(1);
  });
});
