// The unmodified HttpAgent of AG-UI with the `fetch` of our client: what breaks is repaired by connecting (D-211).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestThread } from '../../server/test/http/faces/thread.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { Convoke } from '../src/index.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';
import { startCuttingProxy } from './cutting-proxy.ts';

let server: ConvokeServer;
let convoke: Convoke;
beforeAll(async () => {
  server = await startConvoke();
  convoke = new Convoke(clientOf(server));
});
afterAll(() => server[Symbol.asyncDispose]());

function open(agent: string, threadId?: string): TestThread {
  return new TestThread({ baseUrl: server.baseUrl, client: {} }, `agents/${agent}`, {
    ...(threadId !== undefined && { threadId }),
    fetch: (url, init) => convoke.fetch(url, init),
  });
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

/** A page that is loaded again shows the same. */
async function isShownAlike(thread: TestThread, agent: string): Promise<void> {
  const other = open(agent, thread.threadId);
  await other.connectAgent();
  expect(plain(other.messages)).toEqual(plain(thread.messages));
}

const runOf = (thread: TestThread) => convoke.runs.get(thread.runId);

test('a server that is killed in the middle of the text rejects, and connecting shows the whole answer once', async () => {
  const whole = Array.from({ length: 80 }, (_, index) => `w${index}`).join(' ');
  const threads = { rambler: open('rambler'), repeater: open('repeater') };
  const both = Object.values(threads);
  const sent = both.map((thread) => thread.say(whole));
  const outcomes = Promise.allSettled(sent);
  await eventually(() => both.every(({ text }) => text.includes('w2 ')));
  await server.restart();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (const [agent, thread] of Object.entries(threads)) {
    await thread.connectAgent();
    expect([thread.outcome, thread.text]).toEqual([
      'success',
      agent === 'rambler' ? `Well. ${whole}` : whole,
    ]);
    expect((await runOf(thread)).record.attempt).toBe(2);
    await isShownAlike(thread, agent);
  }
});

test('a client that kept half of the answer continues with runAgent alone', async () => {
  const whole = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
  const thread = open('repeater');
  const sent = thread.say(whole);
  const outcome = Promise.allSettled([sent]);
  await eventually(() => thread.text.includes('w2 '));
  await server.restart();
  await outcome;
  await thread.runAgent();
  expect([thread.outcome, thread.text, thread.messages[0]?.role]).toEqual([
    'success',
    whole,
    'user',
  ]);
});

test('a server that is killed while a tool call waits for approval asks again, and the call is carried out once', async () => {
  const thread = open('approver');
  await thread.say('go');
  const asked = thread.pendingInterrupts;
  await server.restart();
  await thread.connectAgent();
  expect(thread.pendingInterrupts).toEqual(asked);
  await thread.answer(() => ({ approved: true }));
  expect([thread.outcome, thread.text, thread.calls.length]).toEqual(['success', 'done', 1]);
  await isShownAlike(thread, 'approver');
});

test('a server that is killed in a tool call asks about its outcome, and the answer continues the run', async () => {
  const thread = open('appender');
  const outcome = Promise.allSettled([thread.say('go')]);
  await eventually(() => thread.calls.length === 1);
  await server.restart();
  expect(await outcome).toMatchObject([{ status: 'rejected' }]);
  await thread.connectAgent();
  const [doubt] = thread.pendingInterrupts;
  expect(doubt).toMatchObject({ reason: 'input_required' });
  const { answer: asked } = (doubt?.responseSchema?.['properties'] ?? {}) as {
    readonly answer?: { readonly enum: readonly string[] };
  };
  const [answer] = asked?.enum ?? [];
  await thread.answer(() => ({ answer }));
  expect([thread.outcome, thread.text]).toEqual(['success', 'Appending. done']);
  expect(thread.calls.map(({ function: { name } }) => name)).toEqual(['append_file', 'ask_user']);
  await isShownAlike(thread, 'appender');
});

test('answers over connections that are cut at any byte are given once', async () => {
  const cuts = [1, 300, 900, 1300];
  await using proxy = await startCuttingProxy(server.baseUrl, () => cuts.shift());
  const thread = open('approver');
  await thread.say('go');
  const resume = thread.pendingInterrupts.map(({ id: interruptId }) => ({
    interruptId,
    status: 'resolved' as const,
    payload: { approved: true },
  }));
  const { session_id } = (await runOf(thread)).record;
  const { token } = await convoke.sessions.at(session_id).createToken();
  const through = new TestThread({ baseUrl: proxy.baseUrl, client: {} }, `sessions/${session_id}`, {
    threadId: thread.threadId,
    headers: { authorization: `Bearer ${token}` },
  });
  through.setMessages(thread.messages);
  await eventually(async () => {
    await through.runAgent({ resume }).catch(() => undefined);
    return through.outcome === 'success';
  });
  expect([proxy.cuts, cuts]).toEqual([4, []]);
  expect([through.text, through.calls.length, through.results.length]).toEqual(['done', 1, 1]);
  const { items } = await convoke.sessions.at(session_id).runs.list().page();
  expect(items).toHaveLength(1);
});
