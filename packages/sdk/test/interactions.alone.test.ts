import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  Convoke,
  type InteractionRecord,
  type PermissionHandler,
  type QuestionHandler,
  type RunEvent,
} from '../src/index.ts';
import { answering, clientAt, runRecord } from './answering.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
let convoke: Convoke;
beforeAll(async () => {
  server = await startConvoke();
  convoke = new Convoke(clientOf(server));
});
afterAll(() => server[Symbol.asyncDispose]());

describe('handlers answer interactions', () => {
  test('from the durable record, while the events stream (spec §6 rule 6)', async () => {
    const session = await convoke.sessions.create('demo');
    const run = await session.run('Hello');
    const onQuestion = vi.fn<QuestionHandler>(({ options }) => options?.[0]?.label);
    const onPermission = vi.fn<PermissionHandler>(() => 'allow');
    const text = await run.text({ onQuestion, onPermission });
    expect(text).toContain('Thank you, Captain.');
    expect(onQuestion).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        kind: 'question',
        status: 'pending',
        run_id: run.id,
        question: 'What should I call you?',
      }),
      { signal: expect.any(AbortSignal) },
    );
    expect(onPermission.mock.calls[0]?.[0]).toMatchObject({
      kind: 'permission',
      tool_name: 'write_file',
      tool_input: { path: 'outputs/note.txt', text: 'Captain was here, in run 1.\n' },
    });
  });

  test('with a complete answer', async () => {
    const session = await convoke.sessions.create('approver');
    const run = await session.run('Hello');
    await run.wait({ onPermission: () => ({ decision: 'deny', message: 'Not today' }) });
    const { items } = await session.interactions.list({ status: 'all' }).page();
    expect(items).toMatchObject([{ status: 'answered', decision: 'deny', message: 'Not today' }]);
  });

  test('by declining', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    await run.wait({ onQuestion: () => ({ declined: true, message: 'None of these' }) });
    const { items } = await session.interactions.list({ status: 'answered' }).page();
    expect(items).toMatchObject([{ declined: true, message: 'None of these' }]);
  });

  test('not where other people have to allow it: they are told, and it stays pending (D-512)', async () => {
    const session = await convoke.sessions.create('guarded');
    const run = await session.run('Hello');
    const onPermission = vi.fn<PermissionHandler>(() => 'allow');
    const told = Promise.withResolvers<InteractionRecord>();
    const followed = run.wait({
      onPermission,
      onWaiting: (record) => told.resolve(record),
    });
    expect(await told.promise).toMatchObject({
      run_id: run.id,
      can_allow: false,
      approvers: { role: 'owner', clients: false },
    });
    const { items } = await session.interactions.list({ status: 'pending' }).page();
    expect(items).toHaveLength(1);
    await run.cancel();
    await followed;
    expect(onPermission).not.toHaveBeenCalled();
  });

  test('also when following starts after the event of the interaction', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const asked = await until(run, 'user_question');
    const rest: string[] = [];
    for await (const event of run.follow({ after: asked.id, onQuestion: () => 'red' })) {
      rest.push(event.type);
    }
    expect(rest).toEqual(['user_answered', 'run_resumed', 'message_delta', 'run_completed']);
  });

  test('not if they are no longer pending', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    await run.wait({ onQuestion: () => 'red' });
    const onQuestion = vi.fn<QuestionHandler>(() => 'blue');
    expect(await run.text({ onQuestion })).toBe('red');
    expect(onQuestion).not.toHaveBeenCalled();
  });
});

describe('a handler', () => {
  test('is aborted when the interaction is answered elsewhere', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const told = Promise.withResolvers<void>();
    const onQuestion: QuestionHandler = async ({ interaction_key }, { signal }) => {
      signal.addEventListener('abort', () => told.resolve());
      await session.interactions.answer(interaction_key, { answer: 'blue' });
      await told.promise;
      return 'red';
    };
    expect(await run.text({ onQuestion })).toBe('blue');
  });

  test('that answers too late does no harm', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const onQuestion: QuestionHandler = async ({ interaction_key }) => {
      await session.interactions.answer(interaction_key, { answer: 'blue' });
      return 'red';
    };
    expect(await run.text({ onQuestion })).toBe('blue');
  });

  test('may leave the interaction pending', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const left = Promise.withResolvers<string>();
    const text = run.text({
      onQuestion: ({ interaction_key }) => {
        left.resolve(interaction_key);
        return undefined;
      },
    });
    await session.interactions.answer(await left.promise, { answer: 'blue' });
    expect(await text).toBe('blue');
  });

  test('that throws ends following with its error, and the question stays pending', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const onQuestion = () => Promise.reject(new Error('nobody at home'));
    await expect(run.text({ onQuestion })).rejects.toThrow('nobody at home');
    expect((await session.interactions.pending().page()).items).toHaveLength(1);
  });

  test('whose answer is invalid gets the error', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const text = run.text({ onQuestion: () => ['red', 'blue'] });
    await expect(text).rejects.toMatchObject({ code: 'invalid_answer' });
  });

  test('is aborted when the run is cancelled', async () => {
    const session = await convoke.sessions.create('asker');
    const run = await session.run('Hello');
    const told = vi.fn<() => void>();
    const asked = Promise.withResolvers<void>();
    const waited = run.wait({
      onQuestion: (_question, { signal }) => {
        signal.addEventListener('abort', told);
        asked.resolve();
        return new Promise<undefined>(() => {});
      },
    });
    await asked.promise;
    await run.cancel();
    expect((await waited).status).toBe('cancelled');
    expect(told).toHaveBeenCalledOnce();
  });
});

test('pending interactions are listed and answered without following a run', async () => {
  const session = await convoke.sessions.create('approver');
  const run = await session.run('Hello');
  await until(run, 'permission_request');
  for await (const interaction of session.interactions.pending()) {
    const key = interaction.interaction_key;
    const answered = await session.interactions.answer(key, { decision: 'allow' });
    expect(answered).toMatchObject({ interaction_key: key, status: 'answered', decision: 'allow' });
    await expect(session.interactions.answer(key, { decision: 'deny' })).rejects.toMatchObject({
      code: 'interaction_answered',
    });
  }
  expect(await run.text()).toBe('done');
});

test('a repeated event of an interaction calls no handler, and its record is read first', async () => {
  const key = 'int_1';
  const answered = Promise.withResolvers<void>();
  const record = { interaction_key: key, kind: 'question', run_id: 'run_1', question: 'Which?' };
  const frame = (id: number, type: string, data: object) =>
    `data: ${JSON.stringify({ id: `${id}`, type, session_id: 'sess_1', run_id: 'run_1', data })}\n\n`;
  await using fake = await answering(async ({ method, path }, response) => {
    if (path.endsWith('/interactions'))
      return void response.end(JSON.stringify({ interactions: [record] }));
    if (method === 'POST') return void response.end('{}', () => answered.resolve());
    if (!path.endsWith('/events')) return void response.end(JSON.stringify(runRecord));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame(1, 'user_question', { interaction_key: key }));
    response.write(frame(2, 'user_question', { interaction_key: key, replayed: true }));
    await answered.promise;
    response.end(frame(3, 'run_completed', { run_id: 'run_1' }));
  });
  const onQuestion = vi.fn<QuestionHandler>(() => 'red');
  await clientAt(fake).sessions.at('sess_1').runs.at('run_1').wait({ onQuestion });
  expect(onQuestion).toHaveBeenCalledExactlyOnceWith(record, expect.anything());
  expect(fake.seen.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
    'GET events',
    'GET interactions',
    'POST answer',
    'GET run_1',
  ]);
});

async function until(run: AsyncIterable<RunEvent>, type: RunEvent['type']): Promise<RunEvent> {
  for await (const event of run) if (event.type === type) return event;
  throw new Error(`the run ended without ${type}`);
}

test('a service that restarts while it is asked or answered is waited for, as for the events', async () => {
  const key = 'int_1';
  const answered = Promise.withResolvers<void>();
  const record = { interaction_key: key, kind: 'question', run_id: 'run_1', question: 'Which?' };
  const frame = (id: number, type: string, data: object) =>
    `data: ${JSON.stringify({ id: `${id}`, type, session_id: 'sess_1', run_id: 'run_1', data })}\n\n`;
  const failures = { GET: 9, POST: 9 };
  await using fake = await answering(async ({ method, path }, response) => {
    if (path.includes('/interactions')) {
      const left = method === 'POST' ? failures.POST-- : failures.GET--;
      if (left > 0) return void response.writeHead(503).end();
      if (method === 'POST') return void response.end('{}', () => answered.resolve());
      return void response.end(JSON.stringify({ interactions: [record] }));
    }
    if (!path.endsWith('/events')) return void response.end(JSON.stringify(runRecord));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame(1, 'user_question', { interaction_key: key }));
    await answered.promise;
    response.end(frame(2, 'run_completed', {}));
  });
  const onQuestion = vi.fn<QuestionHandler>(() => 'this');
  const convokeOfFake = clientAt(fake, { retry: { attempts: 2, baseMs: 1, maxMs: 2 } });
  await convokeOfFake.sessions.at('sess_1').runs.at('run_1').wait({ onQuestion });
  expect(onQuestion).toHaveBeenCalledOnce();
});
