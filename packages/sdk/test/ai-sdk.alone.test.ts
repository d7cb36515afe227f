// The unmodified chat of the AI SDK with our transport: what breaks is invisible to it (D-209).
import * as seven from 'ai';
import type { UIMessage } from 'ai';
import * as six from 'ai-v6';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatLibrary, chatOf, type MemoryChat } from '../../server/test/http/faces/chat.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { ConvokeChatTransport, type ConvokeChatTransportOptions } from '../src/ai-sdk.ts';
import { Convoke, type SessionHandle } from '../src/index.ts';
import { answering, inTurn, json, runRecord, sessionRecord } from './answering.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';
import { chance, startCuttingProxy } from './cutting-proxy.ts';

let server: ConvokeServer;
beforeAll(async () => {
  server = await startConvoke();
});
afterAll(() => server[Symbol.asyncDispose]());

type Options = Omit<ConvokeChatTransportOptions, 'session'>;

function chatIn(session: SessionHandle, options: Options = {}, library: ChatLibrary = seven) {
  const transport = new ConvokeChatTransport({ session, ...options });
  return new (chatOf(library))(session.id, transport);
}

// The types of the versions differ in what these tests do not use.
const versions = [seven, six as unknown as ChatLibrary];

/** A session whose history was listed while it was empty, as a page does before its first message. */
async function open(agent: string): Promise<SessionHandle> {
  const session = await new Convoke(clientOf(server)).sessions.create(agent);
  await session.uiMessages.list().page();
  return session;
}

const settled = (chat: MemoryChat, text: string) =>
  eventually(() => chat.status === 'ready' && chat.text === text);

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

/** A page that has missed everything, and the history, show the same message; with that history nothing is replayed. */
async function isShownAlike(session: SessionHandle, chat: MemoryChat): Promise<void> {
  const reloaded = chatIn(session);
  await reloaded.resumeStream();
  expect(plain(reloaded.lastMessage)).toEqual(plain(chat.lastMessage));
  const { items } = await session.uiMessages.list().page();
  expect(items.at(-1)).toEqual(plain(chat.lastMessage));
  expect(await new ConvokeChatTransport({ session }).reconnectToStream()).toBeNull();
}

test('a conversation, an approval and a question, each answered in a page that was reloaded', async () => {
  const talk = await open('echo');
  const chat = chatIn(talk);
  await chat.resumeStream();
  await chat.sendMessage({ text: 'hello' });
  await chat.sendMessage({ text: 'again' });
  expect([chat.status, chat.text, chat.messages.length]).toEqual(['ready', 'again (run 2)', 4]);
  await isShownAlike(talk, chat);

  const writing = await open('approver');
  await chatIn(writing).sendMessage({ text: 'go' });
  const approving = chatIn(writing);
  await approving.resumeStream();
  const { approval } = approving.calls[0] ?? {};
  await approving.addToolApprovalResponse({ id: approval?.id ?? '', approved: true });
  await settled(approving, 'done');
  expect(approving.calls.map(({ state }) => state)).toEqual(['output-available']);
  await isShownAlike(writing, approving);

  const asking = await open('asker');
  await chatIn(asking).sendMessage({ text: 'go' });
  const replying = chatIn(asking);
  await replying.resumeStream();
  const { toolCallId = '' } = replying.calls[0] ?? {};
  await replying.addToolOutput({ tool: 'ask_user', toolCallId, output: 'red' });
  await settled(replying, 'red');
  await isShownAlike(asking, replying);
  // Nothing was sent twice.
  for (const session of [writing, asking]) {
    expect((await session.runs.list().page()).items).toHaveLength(1);
  }
});

test('a request that waits for other people is shown and not offered, in a page and after a reload', async () => {
  const session = await open('guarded');
  const first = chatIn(session);
  await first.sendMessage({ text: 'go' });
  const reloaded = chatIn(session);
  await reloaded.resumeStream();
  for (const page of [first, reloaded]) {
    expect(page.calls.map(({ state }) => state)).toEqual(['input-available']);
    expect(page.lastMessage?.metadata).toMatchObject({ status: 'waiting' });
  }
  const [asked] = (await session.interactions.pending().page()).items;
  expect(asked?.can_allow).toBe(false);
  // Everyone may deny.
  await session.interactions.answer(asked?.interaction_key ?? '', { decision: 'deny' });
});

test('a held chat sees an answer from elsewhere, and stop() stops reading, not the run', async () => {
  const session = await open('asker');
  const chat = chatIn(session, { waiting: 'hold' });
  const sent = chat.sendMessage({ text: 'go' });
  const key = await eventually(() => chat.calls[0]?.toolCallId);
  const tab = chatIn(session, { waiting: 'hold' });
  const resumed = tab.resumeStream();
  await eventually(() => tab.calls.length === 1);
  await tab.stop();
  await resumed;
  expect((await session.runs.list().page()).items[0]?.record.status).toBe('waiting');
  await session.interactions.answer(key, { answer: 'blue' });
  await sent;
  expect([chat.status, chat.text]).toEqual(['ready', 'blue']);
});

test('connections that are cut at any byte are invisible', async () => {
  const random = chance(3);
  const nextCut = () => (random() < 0.7 ? 1 + Math.floor(random() * 4000) : undefined);
  await using proxy = await startCuttingProxy(server.baseUrl, nextCut);
  const retry = { attempts: 12, baseMs: 1, maxMs: 5 };
  const convoke = new Convoke({ ...clientOf(server, proxy.baseUrl), retry });
  const talker = await open('talker');
  const chat = chatIn(convoke.sessions.at(talker.id));
  await chat.sendMessage({ text: 'bye' });
  expect([chat.status, chat.text]).toEqual(['ready', `${'Grüße 👋🏽 '.repeat(40)}bye`]);
  expect(proxy.cuts).toBeGreaterThan(0);
  await isShownAlike(talker, chat);
});

test('a server that is killed in the middle of the text is invisible, also where the text begins again', async () => {
  const whole = Array.from({ length: 80 }, (_, index) => `w${index}`).join(' ');
  const told = versions.flatMap((library) =>
    (['rambler', 'repeater'] as const).map((agent) => ({ library, agent })),
  );
  const talks = await Promise.all(
    told.map(async ({ library, agent }) => {
      const session = await open(agent);
      return { agent, session, chat: chatIn(session, {}, library) };
    }),
  );
  const sent = talks.map(({ chat }) => chat.sendMessage({ text: whole }));
  const isTalking = ({ chat: { lastMessage, text } }: { readonly chat: MemoryChat }) =>
    lastMessage?.role === 'assistant' && text.includes('w2');
  await eventually(() => talks.every(isTalking));
  await server.restart();
  await Promise.all(sent);
  for (const { agent, session, chat } of talks) {
    const text = agent === 'rambler' ? `Well. ${whole}` : whole;
    expect([chat.status, chat.error, chat.text]).toEqual(['ready', undefined, text]);
    expect((await session.runs.list().page()).items[0]?.record.attempt).toBe(2);
    await isShownAlike(session, chat);
  }
});

test('a run whose events were deleted shows its text (D-195)', async () => {
  const record = { ...runRecord, status: 'completed', output_text: 'the end', attempt: 1 };
  const id = '0000000000000009';
  const event = { id, type: 'run_completed', run_id: record.id, data: {} };
  const frames = `id: ${id}\nevent: run_completed\ndata: ${JSON.stringify(event)}\n\n`;
  await using old = await answering(
    inTurn(
      json(200, { messages: [] }),
      json(200, { runs: [record] }),
      json(200, { events: [event] }),
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(frames);
      },
    ),
  );
  const convoke = new Convoke({ ...old, token: 'a', workspace: selected });
  const session = convoke.sessions.at(sessionRecord.id);
  await session.uiMessages.list().page();
  const chat = chatIn(session);
  await chat.resumeStream();
  expect([chat.status, chat.text]).toEqual(['ready', 'the end']);
  expect((chat.lastMessage as UIMessage).metadata).toMatchObject({ truncated: true });
});

const selected = { organizationId: 'org_1', tenantId: 'tnt_1' };

test('a message is not written again', async () => {
  const session = await open('echo');
  const chat = chatIn(session);
  await chat.sendMessage({ text: 'hello' });
  await chat.regenerate();
  expect(chat.error?.message).toContain('not rewritten');
  expect((await session.runs.list().page()).items).toHaveLength(1);
});
