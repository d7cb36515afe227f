// For the clients of a face, a run that sleeps, waits for a message or waits for a called run is one that works. A
// message of the chat before its end is refused with the reason (D-851, D-913).
import type { RunRecord } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openSession, readRun, readSession } from '../../support/api-steps.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { a2aVersions, openA2aClient } from './a2a-clients.ts';
import { TestChat } from './chat.ts';
import { mcpClients } from './mcp-clients.ts';
import { TestThread } from './thread.ts';

const hm = { say: 'Hm. ' };
const go = { receive: { name: 'go', timeout: '2d' } };
const waiting = {
  sleeper: { script: [hm, { sleep: { name: 'a pause', for: '2d' } }, { say: 'Awake.' }] },
  receiver: { script: [hm, go, { say: 'Got {{answer}}.' }] },
  caller: {
    agents: ['listener'],
    script: [hm, { call: { agent: 'listener', prompt: 'x' } }, { say: '{{answer}}' }],
  },
};
type Waiter = keyof typeof waiting;
const waiters = Object.keys(waiting) as Waiter[];
const published = Object.entries(waiting).map(([name, yaml]) => [
  name,
  { description: name, publish: ['a2a'], ...yaml },
]);
const agents = {
  ...Object.fromEntries(published),
  listener: { description: 'Listens', script: [go, { say: 'Heard {{answer}}.' }] },
};

/** What the whole answer is once what it waits for has come; of the one that sleeps for days, what it has said. */
const whole = { sleeper: 'Hm. ', receiver: 'Hm. Got on.', caller: 'Hm. Heard on.' };
const waitsFor = {
  sleeper: /The agent waits until \d{4}-\d\d-\d\d \d\d:\d\d UTC for "a pause"\./,
  receiver: /The agent waits for the message "go", until [-\d]+ [:\d]+ UTC at the latest\./,
  caller: /The agent waits for a run of "listener"\./,
};
const refusals = {
  sleeper: /^The agent waits until \d{4}-\d\d-\d\d \d\d:\d\d UTC for "a pause"\.$/,
  receiver: /^The agent waits until \d{4}-\d\d-\d\d \d\d:\d\d UTC for "go"\.$/,
  caller: /^The agent waits for "listener"\.$/,
};

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents });
  });

  /** The newest run of a session once nothing executes any more. */
  const asleep = (sessionId: string): Promise<RunRecord> =>
    eventually(async () => {
      const params = { session_id: sessionId };
      const { runs } = (await server.send('list_runs', { params })).body;
      const [run] = runs;
      return run?.open_waits === 1 && readRun(server, run);
    });

  /** What the specification promises to all clients: nothing new is shown, and nobody is asked. */
  async function isUsual(run: RunRecord): Promise<void> {
    const params = { session_id: run.session_id };
    const { body } = await server.send('list_interactions', { params });
    const { status } = await readSession(server, run.session_id);
    expect([run.status, status, body.interactions]).toEqual(['running', 'running', []]);
  }

  /** What the run waits for comes. One that sleeps for days is cancelled instead. */
  async function end(waiter: Waiter, run: RunRecord): Promise<void> {
    const [wait] = run.waiting_on ?? [];
    const params = { run_id: waiter === 'caller' ? (wait?.child_run_id ?? '') : run.id };
    if (waiter === 'sleeper') {
      await server.send('cancel_run', { params: { ...params, session_id: run.session_id } });
      return;
    }
    // The called run may not have asked for it yet: it is kept then.
    await server.send('signal_run', { params, body: { name: 'go', data: 'on' } });
  }

  describe.each(waiters)('%s', (waiter) => {
    const isCancelled = waiter === 'sleeper';

    test('in a chat of the AI SDK: the message stays open, and ends whole', async () => {
      const { id } = await openSession(server, waiter);
      const chat = new TestChat(server, id);
      const sent = chat.sendMessage({ text: 'hello' });
      const run = await asleep(id);
      await isUsual(run);
      await eventually(() => chat.text === 'Hm. ');
      expect([chat.status, chat.calls]).toEqual(['streaming', []]);
      const parts = [{ type: 'text', text: 'and now?' }];
      const refused = await server.refused('send_ui_message', {
        params: { session_id: id },
        body: { messages: [{ id: 'm2', role: 'user', parts }] },
      });
      expect([refused.status, refused.error]).toEqual([409, 'session_busy']);
      expect(refused.message).toMatch(refusals[waiter]);
      const other = new TestChat(server, id);
      const resumed = other.resumeStream();
      await eventually(() => other.text === 'Hm. ');
      await end(waiter, run);
      await Promise.all([sent, resumed]);
      expect([chat.text, other.text]).toEqual([whole[waiter], whole[waiter]]);
    });

    test('in a thread of AG-UI: the response stays open, without an interrupt', async () => {
      const { id } = await openSession(server, waiter);
      const thread = new TestThread(server, `agents/${waiter}`, { threadId: id });
      const sent = thread.say('hello').catch(() => undefined);
      const run = await asleep(id);
      await isUsual(run);
      await eventually(() => thread.text === 'Hm. ');
      expect([thread.finished, thread.failed, thread.pendingInterrupts]).toEqual([
        undefined,
        undefined,
        [],
      ]);
      const messages = [{ id: 'm2', role: 'user', content: 'and now?' }];
      const body = { threadId: id, runId: 'r2', messages };
      const refused = await server.refused('run_ag_ui', { params: { agent_name: waiter }, body });
      expect([refused.status, refused.error]).toEqual([409, 'session_busy']);
      expect(refused.message).toMatch(refusals[waiter]);
      await end(waiter, run);
      await sent;
      expect(thread.text).toBe(whole[waiter]);
      expect(thread.outcome).toBe(isCancelled ? 'cancelled' : 'success');
    });

    test.each(a2aVersions)('as a task of A2A %s: it works, and asks for no input', async (of) => {
      const { organization_id, tenant_id } = server.quickstart;
      const { authorization = '' } = server.client;
      const url = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/${waiter}`;
      const client = await openA2aClient(of, url, { authorization });
      const begun = await client.send('hello', { isBlocking: false });
      const run = await asleep(begun.context);
      await isUsual(run);
      expect(await client.get(begun.id)).toMatchObject({ state: 'working', text: 'Hm. ' });
      const refused = client.send('and now?', { context: begun.context, isBlocking: false });
      // The older library has words of its own for this error.
      const words = of === '1.0' ? /The agent waits/ : /not supported/;
      await expect(refused).rejects.toThrow(words);
      await end(waiter, run);
      const state = isCancelled ? 'canceled' : 'completed';
      const text = whole[waiter];
      await eventually(async () => (await client.get(begun.id)).state === state);
      expect(await client.get(begun.id)).toMatchObject({ state, text });
    });

    test.each(Object.entries(mcpClients))(
      'as a tool of MCP (%s): the result says that the run continues, and what it waits for',
      async (_, connectTo) => {
        const { organization_id, tenant_id } = server.quickstart;
        const { authorization = '' } = server.client;
        const url = `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}?wait=1`;
        const assistant = await connectTo({ url, headers: { authorization } });
        onTestFinished(() => assistant.close());
        const result = await assistant.call(waiter, { prompt: 'hello' });
        const { run_id = '', session_id = '' } = result.structuredContent ?? {};
        expect(result.structuredContent).toMatchObject({ status: 'running', text: 'Hm. ' });
        expect(result.content[0]?.text).toContain('convoke_wait');
        const run = await asleep(session_id);
        await isUsual(run);
        await eventually(async () => {
          const { content } = await assistant.call('convoke_wait', { run_id });
          return waitsFor[waiter].test(content[0]?.text ?? '');
        });
        const refused = await assistant.call(waiter, { prompt: 'and now?', session_id });
        expect([refused.isError, refused.content[0]?.text]).toEqual([
          true,
          expect.stringContaining('The agent waits'),
        ]);
        await end(waiter, run);
        const status = isCancelled ? 'cancelled' : 'completed';
        await eventually(async () => (await readRun(server, run)).status === status);
        const waited = await assistant.call('convoke_wait', { run_id });
        expect(waited.structuredContent).toMatchObject({ status, text: whole[waiter] });
      },
    );
  });
});
