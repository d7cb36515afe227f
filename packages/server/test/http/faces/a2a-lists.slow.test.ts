import { ListTasksRequest, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../src/store/sql.ts';
import { usualAgents } from '../../support/agents.ts';
import { logOf } from '../../support/api-steps.ts';
import { databaseKinds, openTestDatabase } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { A2aCalls, type RawTask, said } from './a2a-calls.ts';
import { openSdkClient } from './a2a-clients.ts';

const publish = ['a2a'];
const { asker, sleeper } = usualAgents;
const agents = {
  ...usualAgents,
  asker: { ...asker, publish },
  sleeper: { ...sleeper, publish },
  mute: { description: 'Asks only', publish, script: [{ ask: { question: 'Well?' } }] },
};
const old = { headers: { 'a2a-version': '' } };

describe.each(databaseKinds)('a list of tasks on %s', (database) => {
  let server: TestServer;
  let calls: A2aCalls;
  beforeAll(async () => {
    server = await startServer({ database, agents });
    calls = new A2aCalls(server);
  });

  interface Listed {
    readonly tasks: readonly (RawTask & { readonly history?: unknown })[];
    readonly nextPageToken: string;
    readonly totalSize: number;
  }
  const list = async (params: object, more = {}) =>
    (await calls.call('ListTasks', params, more)).result as unknown as Listed;
  const idsOf = ({ tasks }: Pick<Listed, 'tasks'>) => tasks.map(({ id }) => id);
  const open = (agent: string): Promise<Client> => {
    const { organization_id, tenant_id } = server.quickstart;
    const { authorization = '' } = server.client;
    const url = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/${agent}`;
    return openSdkClient(url, { authorization });
  };
  const listed = (client: Client, params: object) =>
    client.listTasks(ListTasksRequest.fromJSON(params));

  test('begins with the task that changed last, and says of it what GetTask says (D-468)', async () => {
    const client = await open('asker');
    const [first, second] = [
      await calls.task(said('a'), { agent: 'asker' }),
      await calls.task(said('b'), { agent: 'asker' }),
    ];
    const latest = async () => (await listed(client, { pageSize: 2 })).tasks;
    expect((await latest()).map(({ id }) => id)).toEqual([second.id, first.id]);
    const answer = said('red', { taskId: first.id });
    await calls.task(answer, { agent: 'asker' });
    const tasks = await latest();
    expect(tasks.map(({ id }) => id)).toEqual([first.id, second.id]);
    for (const { id, status } of tasks) {
      const got = await client.getTask({ tenant: '', id, historyLength: 0 });
      expect([got.status?.state, got.status?.timestamp]).toEqual([
        status?.state,
        status?.timestamp,
      ]);
      expect(status?.timestamp).toBeDefined();
    }
    const [done, asked] = tasks;
    expect([done?.status?.state, asked?.status?.state]).toEqual([
      TaskState.TASK_STATE_COMPLETED,
      TaskState.TASK_STATE_INPUT_REQUIRED,
    ]);
    // A waiting task changed when it asked, not when it began.
    await calls.task(said('red', { taskId: second.id }), { agent: 'asker' });
    const asking = { session_id: second.contextId, id: second.id };
    const question = (await logOf(server, asking)).find(({ type }) => type === 'user_question');
    expect(asked?.status?.timestamp).toBe(question?.created_at);
  });

  test('has pages that a task that changes between them does not disturb, and the whole number (D-469)', async () => {
    const client = await open('asker');
    const begun = await calls.task(said('x'), { agent: 'asker' });
    const before = await listed(client, { pageSize: 100 });
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await listed(client, { pageSize: 1, pageToken });
      seen.push(...page.tasks.map(({ id }) => id));
      expect(page.totalSize).toBe(before.tasks.length);
      // The task of the page before moves to the top, where this walk has been.
      if (seen.length === 1) {
        await calls.task(said('red', { taskId: begun.id }), { agent: 'asker' });
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(before.tasks.map(({ id }) => id));
    expect(before.totalSize).toBe(before.tasks.length);
  });

  test('has the tasks of this agent only, by context and by state', async () => {
    const first = await calls.task(said('one'));
    const { contextId } = first;
    const ids = [first.id];
    for (const text of ['two', 'three']) {
      ids.unshift((await calls.task(said(text, { contextId }))).id);
    }
    await calls.call('SendMessage', said('x'), { agent: 'asker' });
    const page = await list({ contextId, pageSize: 2 });
    const rest = await list({ contextId, pageSize: 2, pageToken: page.nextPageToken });
    expect([idsOf(page), idsOf(rest)]).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect([page.totalSize, rest.totalSize, rest.nextPageToken]).toEqual([3, 3, '']);
    const done = { contextId, status: 'TASK_STATE_COMPLETED', pageSize: 100 };
    expect(await list(done)).toMatchObject({ tasks: [{}, {}, {}], totalSize: 3 });
    expect(await list({ ...done, status: 'TASK_STATE_UNSPECIFIED' })).toEqual(
      await list({ contextId, pageSize: 100 }),
    );
    expect(await list({ ...done, status: 'TASK_STATE_WORKING' })).toMatchObject({
      tasks: [],
      totalSize: 0,
    });
    const everywhere = await list({ pageSize: 100 });
    expect(idsOf(everywhere)).toEqual(expect.arrayContaining(ids));
    const waiting = await list({ status: 'TASK_STATE_INPUT_REQUIRED' }, { agent: 'asker' });
    expect(waiting.tasks.length).toBeGreaterThan(0);
    expect((await list({ status: 'TASK_STATE_INPUT_REQUIRED' })).tasks).toEqual([]);
    const { result } = await calls.call('tasks/list', { contextId, status: 'completed' }, old);
    expect(result).toMatchObject({
      tasks: [{ kind: 'task', status: { state: 'completed' } }, {}, {}],
    });
    const token = { pageToken: page.nextPageToken };
    for (const elsewhere of [{ ...token }, { ...token, contextId, status: done.status }]) {
      expect((await calls.call('ListTasks', elsewhere)).error?.code).toBe(-32602);
    }
  });

  test('finds tasks in each state that they pass', async () => {
    const agent = 'sleeper';
    const begun = { ...said('x'), configuration: { returnImmediately: true } };
    const { id, contextId } = await calls.task(begun, { agent });
    const next = { ...said('y', { contextId }), configuration: { returnImmediately: true } };
    const queued = await calls.task(next, { agent });
    const inState = async (status: string) =>
      idsOf(await list({ status: `TASK_STATE_${status}`, contextId }, { agent }));
    expect(await inState('SUBMITTED')).toEqual([queued.id]);
    await expect.poll(() => inState('WORKING')).toEqual([id]);
    for (const task of [queued.id, id]) await calls.call('CancelTask', { id: task }, { agent });
    expect(await inState('CANCELED')).toEqual([id, queued.id]);
    expect(await inState('SUBMITTED')).toEqual([]);
  });

  test('shows answers and messages where they are asked for', async () => {
    const { contextId } = await calls.task(said('one'));
    const [plain] = (await list({ contextId })).tasks;
    expect(plain).not.toHaveProperty('artifacts');
    expect(plain).not.toHaveProperty('history');
    const whole = await list({ contextId, includeArtifacts: true, historyLength: 1 });
    expect(whole.tasks).toMatchObject([
      {
        artifacts: [{ parts: [{ text: 'one (run 1)' }] }],
        history: [{ parts: [{ text: 'one' }] }],
      },
    ]);
    const [answers] = (await list({ contextId, includeArtifacts: true })).tasks;
    expect(answers).not.toHaveProperty('history');
    const [messages] = (await list({ contextId, historyLength: 1 })).tasks;
    expect(messages).not.toHaveProperty('artifacts');
    // A task that has not ended shows what its agent had said when it asked.
    await calls.task(said('x'), { agent: 'asker' });
    const asking = { status: 'TASK_STATE_INPUT_REQUIRED', includeArtifacts: true };
    expect((await list(asking, { agent: 'asker' })).tasks[0]).toMatchObject({
      artifacts: [{ parts: [{ text: 'Hm. ' }] }],
    });
  });

  test('ends a page at the bytes that a message may have, and continues in the next', async () => {
    const long = 'x'.repeat(900 * 1024);
    const { contextId } = await calls.task(said(long));
    for (const more of [1, 2]) await calls.task(said(long.slice(more), { contextId }));
    const whole = { contextId, includeArtifacts: true, historyLength: 1 };
    const first = await list(whole);
    const second = await list({ ...whole, pageToken: first.nextPageToken });
    expect([first.tasks.length, second.tasks.length, second.nextPageToken]).toEqual([2, 1, '']);
  });

  test.each([
    { contextId: 'sess_never' },
    { contextId: '../x' },
    { contextId: 'sess_never', status: 'TASK_STATE_COMPLETED' },
    { status: 'TASK_STATE_REJECTED' },
    { status: 'TASK_STATE_AUTH_REQUIRED' },
    { status: 'rejected' },
    { status: 'unknown' },
  ])('with %o is empty', async (params) => {
    const empty = { tasks: [], totalSize: 0, nextPageToken: '' };
    expect((await calls.call('ListTasks', params)).result).toMatchObject(empty);
  });

  test.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: '5' },
    { pageToken: 'never' },
    { pageToken: 'x'.repeat(2000) },
    { status: 'nonsense' },
    { status: 'constructor' },
    { status: 7 },
    { contextId: 'sess_never', status: 'nonsense' },
    { statusTimestampAfter: '2026-01-01T00:00:00Z' },
  ])('with %o is refused', async (params) => {
    expect((await calls.call('ListTasks', params)).error?.code).toBe(-32602);
  });

  test('an id that no database can store is an unknown one', async () => {
    const id = 'a\u0000';
    expect((await calls.call('GetTask', { id })).error?.code).toBe(-32001);
    expect((await calls.call('ListTasks', { contextId: id })).result).toMatchObject({ tasks: [] });
    expect((await calls.call('SendMessage', said('x', { contextId: id }))).error?.code).toBe(
      -32602,
    );
    const { id: taskId } = await calls.task(said('x'), { agent: 'asker' });
    const parts = [{ data: { interaction_key: id, answer: 'red' } }];
    const { error } = await calls.call('SendMessage', said('', { taskId, parts }), {
      agent: 'asker',
    });
    expect(error?.code).toBe(-32602);
  });

  test('a task that is answered and waits for its worker works, in a list and alone', async () => {
    const { id, contextId } = await calls.task(said('x'), { agent: 'asker' });
    const location = server.config.databaseUrl ?? join(server.config.dataDir, 'convoke.db');
    const connection = await openTestDatabase(database, { location });
    await connection.transaction((tx) =>
      tx.run(sql`update runs set pending_interactions = 0 where id = ${id}`),
    );
    const inState = async (status: string) =>
      (await list({ status: `TASK_STATE_${status}`, contextId }, { agent: 'asker' })).tasks;
    const [working] = await inState('WORKING');
    expect(working).toMatchObject({ id, status: { state: 'TASK_STATE_WORKING' } });
    expect(await inState('INPUT_REQUIRED')).toEqual([]);
    const { result } = await calls.call('GetTask', { id }, { agent: 'asker' });
    expect(result?.['status']).toEqual(working?.status);
  });

  test('a task that has said nothing has no answer in it', async () => {
    const agent = 'mute';
    const { id, contextId } = await calls.task(said('x'), { agent });
    const listed = async () =>
      (await list({ contextId, includeArtifacts: true }, { agent })).tasks[0];
    expect(await listed()).not.toHaveProperty('artifacts');
    await calls.task(said('y', { taskId: id }), { agent });
    expect(await listed()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await listed()).not.toHaveProperty('artifacts');
  });

  test('of a context of another agent is empty, as that of an unknown one', async () => {
    const { contextId } = await calls.task(said('x'), { agent: 'asker' });
    expect(await list({ contextId })).toEqual(await list({ contextId: 'sess_never' }));
  });
});
