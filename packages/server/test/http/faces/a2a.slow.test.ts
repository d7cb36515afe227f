import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { usualAgents } from '../../support/agents.ts';
import { openSession, runIn, startRun } from '../../support/api-steps.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { type A2aClient, type SeenTask, a2aVersions, openA2aClient } from './a2a-clients.ts';

const publish = ['a2a'];
const { echo, asker, writer, failing, sleeper } = usualAgents;
const agents = {
  ...usualAgents,
  asker: { ...asker, publish },
  writer: { ...writer, publish },
  failing: { ...failing, publish },
  sleeper: { ...sleeper, publish },
  twice: {
    description: 'Asks twice',
    publish,
    script: [
      { ask: { question: 'First?' } },
      { say: 'One: {{answer}}. ' },
      { ask: { question: 'Second?' } },
      { say: 'Two: {{answer}}.' },
    ],
  },
  private: { ...echo, publish: [] },
};

async function all(tasks: AsyncIterable<SeenTask>): Promise<SeenTask[]> {
  const seen: SeenTask[] = [];
  for await (const task of tasks) seen.push(task);
  return seen;
}

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents, wrapStore });
  });
  /** Happens once, between the read of a run's row and what is done with it. */
  let afterRead: (() => Promise<void>) | undefined;
  const wrapStore = (store: Store): Store => {
    const { runs } = store.read;
    const findById: typeof runs.findById = async (...call) => {
      const found = await runs.findById(...call);
      await afterRead?.();
      return found;
    };
    const wrapped = { ...runs, findById };
    const get = (read: Store['read'], name: string) =>
      name === 'runs' ? wrapped : (Reflect.get(read, name) as unknown);
    return { ...store, read: new Proxy(store.read, { get }) };
  };

  const urlOf = (agent: string) => {
    const { organization_id, tenant_id } = server.quickstart;
    return `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/${agent}`;
  };

  describe.each(a2aVersions)('a client of A2A %s', (version) => {
    // Nothing but the token: these clients know no selector headers (D-234).
    const open = (agent: string): Promise<A2aClient> => {
      const { authorization = '' } = server.client;
      return openA2aClient(version, urlOf(agent), { authorization });
    };
    const runOf = async ({ id }: SeenTask) =>
      (await server.send('find_run', { params: { run_id: id } })).body;

    test('finds the agent by its card, and its message is a run in a new session (D-235)', async () => {
      const client = await open('echo');
      const task = await client.send('hello');
      expect(task).toMatchObject({ state: 'completed', text: 'hello (run 1)' });
      expect(await runOf(task)).toMatchObject({
        session_id: task.context,
        output_text: task.text,
        input: { prompt: 'hello' },
      });
      expect(await client.get(task.id)).toEqual(task);
      const next = await client.send('again', { context: task.context });
      expect(next).toMatchObject({ context: task.context, text: 'again (run 2)' });
    });

    test('a message that is sent again is the same task', async () => {
      const client = await open('echo');
      const id = randomUUID();
      const first = await client.send('once', { id });
      expect(await client.send('once', { id })).toEqual(first);
      expect((await all(client.stream('once', { id }))).at(-1)).toEqual(first);
      await expect(client.send('other', { id })).rejects.toThrow(/idempotency|key/i);
    });

    test('the same message to two agents is a task of each, and each repeats its own', async () => {
      const [client, other] = [await open('echo'), await open('twice')];
      const id = randomUUID();
      const first = await client.send('all', { id });
      const second = await other.send('all', { id });
      expect(second).toMatchObject({ state: 'input-required' });
      expect(second.context).not.toBe(first.context);
      expect(await client.send('all', { id })).toEqual(first);
      expect(await other.send('all', { id })).toEqual(second);
    });

    test('the history has the message under the id that its client gave it', async () => {
      const client = await open('echo');
      const id = randomUUID();
      const { id: task, context } = await client.send('x', { id });
      expect(await client.messageIds(task)).toEqual([id]);
      const next = randomUUID();
      const second = await client.send('y', { id: next, context });
      expect(await client.messageIds(second.id)).toEqual([next]);
      const run = await startRun(server, await openSession(server, 'echo'), 'x');
      expect(await client.messageIds(run.id)).toEqual([`${run.id}-input`]);
    });

    test('a stream is the task and then its updates, whose text adds up to that of the run', async () => {
      const client = await open('echo');
      const seen = await all(client.stream('hello'));
      expect(seen.at(-1)).toMatchObject({ state: 'completed', text: 'hello (run 1)' });
      expect(seen.map(({ text }) => text)).toEqual(
        seen.map(({ text }) => text).toSorted((a, b) => a.length - b.length),
      );
    });

    test('a message that does not wait gets the task at once, and subscribing shows the rest', async () => {
      const client = await open('asker');
      const begun = await client.send('you', { isBlocking: false });
      expect(['submitted', 'working', 'input-required']).toContain(begun.state);
      const seen: SeenTask[] = [];
      for await (const task of client.subscribe(begun.id)) {
        const isAsked = task.state === 'input-required' && seen.at(-1)?.state !== task.state;
        seen.push(task);
        // Answered elsewhere: the stream stays open, and shows that the agent works again.
        const [asked] = isAsked ? task.data : [];
        if (asked === undefined) continue;
        const key = String(asked['interaction_key']);
        const params = { session_id: task.context, interaction_key: key };
        await server.send('answer_interaction', { params, body: { answer: 'red' } });
      }
      const states = seen.map(({ state }) => state);
      expect(states.slice(states.indexOf('input-required') + 1)).toContain('working');
      expect(seen.at(-1)).toMatchObject({ state: 'completed', text: 'Hm. You said red.' });
      const again = all(client.subscribe(begun.id));
      if (version === '0.3') expect(await again).toEqual([await client.get(begun.id)]);
      else await expect(again).rejects.toThrow(/GetTask|not supported/);
    });

    test('a question ends the response, and text answers it', async () => {
      const client = await open('asker');
      const seen = await all(client.stream('you'));
      const asked = seen.at(-1);
      expect(asked).toMatchObject({ state: 'input-required', said: 'Which colour, you?' });
      expect(asked?.data).toMatchObject([
        { kind: 'question', options: [{ label: 'red' }, { label: 'blue' }] },
      ]);
      const { id: task = '' } = asked ?? {};
      const done = await client.send('blue', { task });
      expect(done).toMatchObject({ id: task, state: 'completed', text: 'Hm. You said blue.' });
    });

    test('an answer that is sent again does not answer the next question', async () => {
      const client = await open('twice');
      const { id: task } = await client.send('go');
      const answer = { task, id: randomUUID() };
      const second = await client.send('a', answer);
      expect(second).toMatchObject({ state: 'input-required', said: 'Second?' });
      expect(await client.send('a', answer)).toEqual(second);
      expect((await client.send('b', { task })).text).toBe('One: a. Two: b.');
      // The task has ended: the lost answer is still the one that was given.
      expect(await client.send('a', answer)).toMatchObject({ state: 'completed' });
      await expect(client.send('c', { task })).rejects.toThrow(/ended|not supported/);
    });

    test.each([
      ['allow', 'May I? Done.'],
      ['deny', 'May I? denied'],
    ])('a permission is decided by data only: %s', async (decision, text) => {
      const client = await open('writer');
      const asked = await client.send('note');
      expect(asked).toMatchObject({ state: 'input-required' });
      const [request] = asked.data;
      expect(request).toMatchObject({ kind: 'permission', tool_name: 'write_file' });
      await expect(client.send('yes', { task: asked.id })).rejects.toThrow(/data part/);
      await expect(client.send('allow', { task: asked.id })).rejects.toThrow(/data part/);
      expect((await runOf(asked)).pending_interactions).toBe(1);
      const { interaction_key } = request ?? {};
      const data = { interaction_key, decision };
      const done = await client.send('', { task: asked.id, data });
      expect(done.text.startsWith(text)).toBe(true);
      expect(done.state).toBe('completed');
    });

    test('a failure says why, and a cancel ends the task', async () => {
      const failed = await (await open('failing')).send('x');
      expect(failed).toMatchObject({ state: 'failed', said: 'cannot x', text: 'Trying. ' });
      const client = await open('sleeper');
      const begun = await client.send('x', { isBlocking: false });
      expect(await client.cancel(begun.id)).toMatchObject({ id: begun.id, state: 'canceled' });
      expect((await client.get(begun.id)).state).toBe('canceled');
      await expect((await open('failing')).cancel(failed.id)).rejects.toThrow(/ended|cancel/i);
    });

    test('tasks and contexts of another agent, and unknown ones, look the same', async () => {
      const client = await open('echo');
      const other = await (await open('failing')).send('x');
      const said = async (call: Promise<unknown>) =>
        call.then(
          () => 'an answer',
          (error: unknown) => String(error),
        );
      for (const ask of [
        (id: string) => client.get(id),
        (id: string) => client.cancel(id),
        (id: string) => client.send('x', { task: id }),
        (id: string) => all(client.subscribe(id)),
      ]) {
        const never = await said(ask('run_never'));
        // Clients of 0.3 hide the reason why there is no stream.
        expect(never).toMatch(/no task|TaskNotFound|event-stream/);
        expect(await said(ask(other.id))).toBe(never);
      }
      const never = await said(client.send('x', { context: 'sess_never' }));
      expect(never).toMatch(/contextId/);
      expect(await said(client.send('x', { context: other.context }))).toBe(never);
    });

    test('the stream of a revoked client is cut without an end', async () => {
      const { organization_id, tenant_id } = server.quickstart;
      const added = await addClient(server, {});
      const { authorization = '' } = added.in(tenant_id);
      const client = await openA2aClient(version, urlOf('sleeper'), { authorization });
      const seen: SeenTask[] = [];
      const cut = (async () => {
        for await (const task of client.stream('x')) seen.push(task);
      })();
      const outcome = cut.then(
        () => 'a clean end',
        () => 'a cut',
      );
      await eventually(() => seen.at(-1)?.text === 'Zzz');
      const params = { organization_id, client_id: added.record.id };
      await server.send('delete_client', { as: server.owner, params });
      expect(await outcome).toBe('a cut');
      expect(seen.at(-1)?.state).toBe('working');
    });
  });

  test('a message waits for its task in a queue, and is refused behind a task that asks', async () => {
    const { authorization = '' } = server.client;
    const client = await openA2aClient('1.0', urlOf('sleeper'), { authorization });
    const first = await client.send('x', { isBlocking: false });
    const queued = await client.send('y', { context: first.context, isBlocking: false });
    expect(queued).toMatchObject({ state: 'submitted', text: '' });
    const waiting = client.send('z', { context: first.context });
    await client.cancel(queued.id);
    await client.cancel(first.id);
    const last = await eventually(async () => {
      const { body } = await server.send('list_runs', { params: { session_id: first.context } });
      return body.runs.find(({ status }) => status === 'running');
    });
    await client.cancel(last.id);
    expect((await waiting).state).toBe('canceled');
    const questions = await openA2aClient('1.0', urlOf('asker'), { authorization });
    const asked = await questions.send('x');
    const behind = questions.send('y', { context: asked.context });
    await expect(behind).rejects.toThrow(/waits for an answer/);
  });

  test('a task is shown as its row has it, whatever its log has got since', async () => {
    const { authorization = '' } = server.client;
    const client = await openA2aClient('1.0', urlOf('asker'), { authorization });
    const asked = await client.send('x');
    afterRead = async () => {
      afterRead = undefined;
      await client.send('red', { task: asked.id });
    };
    expect(await client.get(asked.id)).toEqual(asked);
    expect((await client.get(asked.id)).state).toBe('completed');
  });

  test('who subscribes to a task in a queue is told so at once', async () => {
    const { authorization = '' } = server.client;
    const client = await openA2aClient('1.0', urlOf('sleeper'), { authorization });
    const { id, context } = await client.send('x', { isBlocking: false });
    const queued = await client.send('y', { context, isBlocking: false });
    const states: string[] = [];
    for await (const { state } of client.subscribe(queued.id)) {
      states.push(state);
      if (states.length === 1) await client.cancel(queued.id);
    }
    expect(states).toEqual(['submitted', 'canceled']);
    await client.cancel(id);
  });

  test('a run that the API started is a task, and its log may be gone', async () => {
    const { authorization = '' } = server.client;
    const client = await openA2aClient('1.0', urlOf('echo'), { authorization });
    const run = await startRun(server, await openSession(server, 'echo'), 'x');
    await runIn(server, run, 'completed');
    const shown = { id: run.id, state: 'completed', text: 'x (run 1)' };
    expect(await client.get(run.id)).toMatchObject(shown);
    const earlier = await openA2aClient('0.3', urlOf('echo'), { authorization });
    expect(await all(earlier.subscribe(run.id))).toMatchObject([shown]);
  });

  test('a task that ends while a client subscribes to it still shows its end (D-470)', async () => {
    const { authorization = '' } = server.client;
    const client = await openA2aClient('1.0', urlOf('asker'), { authorization });
    const { id } = await client.send('x');
    afterRead = async () => {
      afterRead = undefined;
      expect((await client.send('red', { task: id })).state).toBe('completed');
    };
    const seen = await all(client.subscribe(id));
    expect(afterRead).toBeUndefined();
    expect(seen.at(-1)).toMatchObject({ state: 'completed', text: 'Hm. You said red.' });
    await expect(all(client.subscribe(id))).rejects.toThrow(/GetTask|not supported/);
  });
});
