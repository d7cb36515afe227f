import type { Json } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { A2aCalls, said } from './a2a-calls.ts';

const publish = ['a2a'];
const { asker, sleeper } = usualAgents;
const agents = {
  ...usualAgents,
  asker: { ...asker, publish },
  sleeper: { ...sleeper, publish },
};

let server: TestServer;
let calls: A2aCalls;
beforeAll(async () => {
  server = await startServer({ agents });
  calls = new A2aCalls(server);
});

const old = { headers: { 'a2a-version': '' } };

describe('the envelope', () => {
  test.each([
    ['{"jsonrpc":"2.0"', -32700],
    ['', -32700],
    ['\ud800'.toWellFormed() + '{', -32700],
    ['{"a":1,"a":2}', -32700],
    [`${'['.repeat(70)}${']'.repeat(70)}`, -32700],
    ['null', -32600],
    ['7', -32600],
    ['[]', -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(201)}","method":"GetTask"}`, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"message/send"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage"}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":null}', -32602],
  ])('%s is %s', async (body, code) => {
    expect((await calls.post(body)).error?.code).toBe(code);
  });

  test('an id is repeated, and a version that is not known is named', async () => {
    expect((await calls.call('Never')).id).toBe(7);
    expect((await calls.post('{}')).id).toBeNull();
    for (const version of ['2.0', '0.2', 'x', '1.1', '1.0, 1.0']) {
      const answer = await calls.call(
        'GetTask',
        { id: 'x' },
        { headers: { 'a2a-version': version } },
      );
      expect([version, answer.error?.code]).toEqual([version, -32009]);
    }
    for (const version of ['0.3', '0.3.0', '']) {
      const answer = await calls.call(
        'GetTask',
        { id: 'x' },
        { headers: { 'a2a-version': version } },
      );
      expect([version, answer.error?.code]).toEqual([version, -32601]);
    }
  });

  test('a body that is too large or of another type gets no further', async () => {
    const params = { ...calls.place, agent_name: 'echo' };
    const headers = { 'content-type': 'text/plain' };
    expect(
      await server.refused('call_published_agent', { params, headers, body: '{}' }),
    ).toMatchObject({ error: 'unsupported_media_type' });
    const body = { jsonrpc: '2.0', id: 1, method: 'x'.repeat(4 * 1024 * 1024) };
    expect(await server.refused('call_published_agent', { params, body })).toMatchObject({
      error: 'body_too_large',
    });
  });
});

describe('a message', () => {
  test.each([
    ['no message', {}, -32602, 'message'],
    ['no id', said('x', { messageId: undefined }), -32602, 'messageId'],
    ['an id that is no text', said('x', { messageId: {} }), -32602, 'messageId'],
    ['a long id', said('x', { messageId: 'x'.repeat(201) }), -32602, 'messageId'],
    ['an id with NUL', said('x', { messageId: 'a\u0000' }), -32602, 'messageId'],
    ['an id that is no Unicode', said('x', { messageId: 'a\ud800' }), -32602, 'messageId'],
    ['of the agent', said('x', { role: 'ROLE_AGENT' }), -32602, 'role'],
    ['no parts', said('x', { parts: [] }), -32602, 'parts'],
    ['parts that are none', said('x', { parts: 'x' }), -32602, 'parts'],
    [
      'many parts',
      said('x', { parts: Array.from({ length: 201 }, () => ({ text: 'x' })) }),
      -32602,
      'parts',
    ],
    ['no text', said(''), -32602, 'neither text nor data'],
    ['text that is none', said('x', { parts: [{ text: 7 }] }), -32005, 'part'],
    ['a file', said('x', { parts: [{ raw: 'aGk=' }] }), -32005, 'part'],
    ['an address', said('x', { parts: [{ url: 'file:///etc/passwd' }] }), -32005, 'part'],
    [
      'an answer first',
      said('x', { parts: [{ data: { interaction_key: 'x' } }] }),
      -32005,
      'answers a task',
    ],
    ['data without words', said('x', { parts: [{ data: {} }] }), -32602, 'input.prompt'],
    ['unknown context', said('x', { contextId: '../x' }), -32602, 'contextId'],
    ['unknown task', said('x', { taskId: '__proto__' }), -32001, 'no task'],
    [
      'a negative history',
      { ...said('x'), configuration: { historyLength: -1 } },
      -32602,
      'historyLength',
    ],
    [
      'push',
      { ...said('x'), configuration: { taskPushNotificationConfig: { url: 'https://x' } } },
      -32003,
      'Push',
    ],
  ])('with %s is refused, and says why', async (...[, params, code, words]) => {
    const before = (await server.send('list_tenant_runs', { query: { limit: '1' } })).body.runs[0];
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const { error } = await calls.call(method, params);
      expect([error?.code, error?.message]).toEqual([code, expect.stringContaining(words)]);
    }
    const after = (await server.send('list_tenant_runs', { query: { limit: '1' } })).body.runs[0];
    expect(after?.id).toBe(before?.id);
  });

  test('parts of text are one prompt, and the answer may contain the message', async () => {
    const parts = [{ text: 'a' }, { text: '' }, { text: 'b', metadata: { x: 1 } }];
    const params = { ...said('', { parts }), configuration: { historyLength: 5 } };
    const { result } = await calls.call('SendMessage', params);
    expect(result).toMatchObject({
      task: {
        history: [{ role: 'ROLE_USER', parts: [{ text: 'a\n\nb' }] }],
        artifacts: [{ artifactId: 'answer', parts: [{ text: 'a\n\nb (run 1)' }] }],
      },
    });
  });
});

describe('an answer', () => {
  async function asked(agent: string) {
    const task = await calls.task(said('x'), { agent });
    return { ...task, key: task.status.message?.parts[1]?.data?.['interaction_key'] };
  }

  test('names an interaction of its own task, in a shape that it takes', async () => {
    const { id: taskId, contextId, key } = await asked('asker');
    const other = await asked('asker');
    for (const [data, words] of [
      [{}, 'interaction_key'],
      [{ interaction_key: 7, answer: 'red' }, 'interaction_key'],
      [{ interaction_key: '../x', answer: 'red' }, 'interaction_key'],
      [{ interaction_key: other.key, answer: 'red' }, 'interaction_key'],
      [{ interaction_key: key, answer: 7 }, 'answer'],
      [{ interaction_key: key, decision: 'allow' }, 'answer'],
      [{ interaction_key: key, answer: 'x'.repeat(100_001) }, 'answer'],
    ] as const) {
      const params = said('', { taskId, parts: [{ data }] });
      const { error } = await calls.call('SendMessage', params, { agent: 'asker' });
      expect([error?.code, error?.message]).toEqual([-32602, expect.stringContaining(words)]);
    }
    const { error: silent } = await calls.call('SendMessage', said('', { taskId }), {
      agent: 'asker',
    });
    expect(silent).toMatchObject({ code: -32602, message: 'The message has no text.' });
    const elsewhere = said('red', { taskId, contextId: other.contextId });
    expect((await calls.call('SendMessage', elsewhere, { agent: 'asker' })).error?.code).toBe(
      -32602,
    );
    const params = { session_id: contextId };
    const { body } = await server.send('list_interactions', { params });
    expect(body.interactions).toMatchObject([{ interaction_key: key, status: 'pending' }]);
    const declined = said('', {
      taskId,
      parts: [{ data: { interaction_key: key, declined: true } }],
    });
    expect((await calls.call('SendMessage', declined, { agent: 'asker' })).result).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });

  test('to a task that asks nothing is refused', async () => {
    const begun = { ...said('x'), configuration: { returnImmediately: true } };
    const { id } = await calls.task(begun, { agent: 'sleeper' });
    const { error } = await calls.call('SendMessage', said('x', { taskId: id }), {
      agent: 'sleeper',
    });
    expect(error).toMatchObject({ code: -32004, message: 'The task is not waiting for input.' });
    await calls.call('CancelTask', { id }, { agent: 'sleeper' });
  });
});

test('a list is cut where it has more bytes than a request may have', async () => {
  const large = 'x'.repeat(1_500_000);
  const { contextId } = await calls.task(said(large));
  for (let more = 0; more < 3; more += 1) {
    await calls.call('SendMessage', said(large, { contextId }));
  }
  const list = async (params: object) =>
    (await calls.call('ListTasks', params)).result as {
      tasks: Json[];
      nextPageToken: string;
      totalSize: number;
    };
  const query = { contextId, historyLength: 1, pageSize: 100 };
  const page = await list(query);
  const rest = await list({ ...query, pageToken: page.nextPageToken });
  expect([page.tasks.length, rest.tasks.length, rest.nextPageToken]).toEqual([2, 2, '']);
  expect([page.totalSize, rest.totalSize]).toEqual([4, 4]);
});

test('what a use case refuses has a code of the protocol, and the reason of Convoke', async () => {
  const message = said('x');
  const ended = await calls.task(message);
  const asking = await calls.task(said('x'), { agent: 'asker' });
  const { contextId } = asking;
  const other = { message: { ...message.message, parts: [{ text: 'y' }] } };
  for (const [agent, method, params, error] of [
    ['echo', 'CancelTask', { id: ended.id }, [-32002, 'RUN_TERMINAL', 'convoke']],
    ['echo', 'SendMessage', other, [-32602, 'IDEMPOTENCY_CONFLICT', 'convoke']],
    ['asker', 'SendMessage', said('y', { contextId }), [-32004, 'SESSION_BUSY', 'convoke']],
    ['echo', 'GetTask', { id: 'run_never' }, [-32001, 'TASK_NOT_FOUND', 'a2a-protocol.org']],
  ] as const) {
    const answer = await calls.call(method, params, { agent });
    const [info] = answer.error?.data ?? [];
    expect([answer.error?.code, info?.reason, info?.domain]).toEqual(error);
  }
});

test('what the protocol has and Convoke does not is refused by its own error', async () => {
  for (const [method, code] of [
    ['CreateTaskPushNotificationConfig', -32003],
    ['GetTaskPushNotificationConfig', -32003],
    ['ListTaskPushNotificationConfigs', -32003],
    ['DeleteTaskPushNotificationConfig', -32003],
    ['GetExtendedAgentCard', -32007],
  ] as const) {
    expect([method, (await calls.call(method, {})).error?.code]).toEqual([method, code]);
  }
  for (const [method, code] of [
    ['tasks/pushNotificationConfig/set', -32003],
    ['agent/getAuthenticatedExtendedCard', -32007],
    ['SendMessage', -32601],
  ] as const) {
    expect([method, (await calls.call(method, {}, old)).error?.code]).toEqual([method, code]);
  }
});
