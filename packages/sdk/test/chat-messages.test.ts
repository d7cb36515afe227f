// What the chat of the AI SDK shows of a run, over our transport: the same in every version of the library (D-481).
import * as seven from 'ai';
import * as six from 'ai-v6';
import { describe, expect, test } from 'vitest';
import { assistantMessage } from '@convoke/faces';
import { runLogs } from '../../faces/test/run-logs.ts';
import { logOf, said, shownThenAsked } from '../../faces/test/written-events.ts';
import { type ChatLibrary, chatOf } from '../../server/test/http/faces/chat.ts';
import { type ChatChunk, ConvokeChatTransport } from '../src/ai-sdk.ts';
import {
  type Answer,
  type Answering,
  answering,
  clientAt,
  json,
  runRecord,
  sessionRecord,
} from './answering.ts';

type Events = ReturnType<typeof logOf>;
type Library = ChatLibrary & Pick<typeof seven, 'safeValidateUIMessages'>;

// The types of the versions differ in what these tests do not use.
const libraries: readonly (readonly [6 | 7, Library])[] = [
  [7, seven],
  [6, six as unknown as Library],
];

// The compiler proves that version 6 takes the transport.
export const transportOfSix = (transport: ConvokeChatTransport): six.ChatTransport<six.UIMessage> =>
  transport;

const ids = { sessionId: sessionRecord.id, runId: runRecord.id };

/** Answers as a server whose only run has written these events. */
function serving(events: Events, run: object = runRecord): Answer {
  return (seen, response) => {
    const { path, headers } = seen;
    if (path.endsWith('/ai-sdk/messages')) return json(200, { messages: [] })(seen, response);
    if (path.endsWith('/runs')) return json(200, { runs: [run] })(seen, response);
    if (path.endsWith('/ai-sdk')) return json(202, run)(seen, response);
    if (path.endsWith(`/runs/${ids.runId}`)) return json(200, run)(seen, response);
    const isStream = headers.accept === 'text/event-stream';
    if (path.endsWith('/events') && !isStream) return json(200, { events })(seen, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const { 'last-event-id': after = '' } = headers;
    response.end(framesOf(events.filter(({ id }) => id > after)));
  };
}

function framesOf(events: Events): string {
  const frames = events.map((event) => {
    const data = JSON.stringify({ ...event, run_id: ids.runId });
    return `id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`;
  });
  return frames.join('');
}

const sessionAt = (server: Answering) => clientAt(server).sessions.at(sessionRecord.id);

/** A chat that has sent a message and shown the run to its end. */
async function shownLive(library: Library, events: Events) {
  await using server = await answering(serving(events));
  const transport = new ConvokeChatTransport({ session: sessionAt(server), waiting: 'hold' });
  const chat = new (chatOf(library))(sessionRecord.id, transport);
  await chat.sendMessage({ text: 'go' });
  return chat;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const endings = ['run_completed', 'run_cancelled', 'error'];
const logs = runLogs().filter(({ events }) => endings.includes(events.at(-1)?.type ?? ''));

const question = { interaction_key: 'key_1', request_id: 'r', question: 'Which?' };
const answered = { interaction_key: 'key_1', answer: 'red' };

/** The agent has asked and got an answer before what it said first is taken back. */
const voidBefore = logOf(
  ['run_started', {}],
  said('kept '),
  said('void '),
  ['user_question', question],
  ['user_answered', answered],
  said('void, too '),
  ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000003' }],
  said('again'),
  ['run_completed', {}],
);

describe.each(libraries)('version %s', (sdk, library) => {
  test.each(logs)('a log of $framework is the message of the history: $name', async (log) => {
    const chat = await shownLive(library, log.events);
    expect(plain(chat.lastMessage?.parts)).toEqual(plain(assistantMessage(ids, log.events).parts));
    const { messages } = chat;
    expect(await library.safeValidateUIMessages({ messages })).toMatchObject({ success: true });
  });

  test('text of an earlier step that is taken back leaves the message, without an error', async () => {
    const chat = await shownLive(library, voidBefore);
    expect([chat.status, chat.error, chat.text]).toEqual(['ready', undefined, 'kept again']);
    const { parts } = assistantMessage(ids, voidBefore);
    const isPlace = ({ type }: { readonly type: string }) => type === 'data-convoke';
    expect(plain(chat.lastMessage?.parts.filter((part) => !isPlace(part)))).toEqual(plain(parts));
  });

  test('text that is taken back leaves the message, also where nothing is said instead', async () => {
    const discard = { reason: 'worker_lost', discard_from_event_id: '000000000002' };
    const chat = await shownLive(
      library,
      logOf(['run_started', {}], said('void'), ['run_interrupted', discard], ['run_cancelled', {}]),
    );
    expect([chat.status, chat.text]).toEqual(['ready', '']);
  });

  test('a page that copies the chunks shows the same text', async () => {
    const events = logOf(...shownThenAsked, allowed, said('done'), ['run_completed', {}]);
    await using server = await answering(serving(events));
    const transport = new ConvokeChatTransport({
      session: sessionAt(server),
      waiting: 'hold',
      sdk,
    });
    const copying = {
      reconnectToStream: transport.reconnectToStream,
      sendMessages: async (options: Parameters<typeof transport.sendMessages>[0]) => {
        const copy = new TransformStream<ChatChunk, ChatChunk>({
          transform: (chunk, controller) => controller.enqueue(structuredClone(chunk)),
        });
        return (await transport.sendMessages(options)).pipeThrough(copy);
      },
    };
    const chat = new (chatOf(library))(sessionRecord.id, copying);
    await chat.sendMessage({ text: 'go' });
    expect([chat.status, chat.text]).toEqual(['ready', 'I write. done']);
  });

  test('onToolCall of the page is told of a question once, and not of an answered one', async () => {
    const open = logOf(['run_started', {}], ['user_question', question]);
    const told: string[] = [];
    for (const events of [
      open,
      logOf(
        ['run_started', {}],
        ['user_question', question],
        ['user_answered', answered],
        said('ok'),
      ),
    ]) {
      const run = { ...runRecord, status: 'waiting', last_event_id: events.at(-1)?.id };
      await using server = await answering(
        serving(
          [
            ...events,
            ...logOf(['run_completed', {}]).map((event) => ({ ...event, id: '000000000009' })),
          ],
          run,
        ),
      );
      const session = sessionAt(server);
      const transport = new ConvokeChatTransport({ session, waiting: 'hold' });
      const chat = new (chatOf(library))(session.id, transport, ({ toolCallId }) =>
        told.push(toolCallId),
      );
      await chat.resumeStream();
    }
    expect(told).toEqual(['key_1']);
  });
});

const allowed = ['permission_resolved', { interaction_key: 'key_1', decision: 'allow' }] as const;

test('a replay begins when everything that is known of the run is there', async () => {
  const events = logOf(['run_started', {}], said('one '), said('two '), said('three'));
  const run = { ...runRecord, last_event_id: events.at(-1)?.id };
  const all = serving(events, run);
  let streams = 0;
  await using server = await answering((seen, response) => {
    if (seen.headers.accept !== 'text/event-stream') return all(seen, response);
    streams += 1;
    // The first connection breaks after two events.
    if (streams > 1) return all(seen, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(framesOf(events.slice(0, 2)));
  });
  const transport = new ConvokeChatTransport({ session: sessionAt(server) });
  const reader = (await transport.reconnectToStream())?.getReader();
  expect((await reader?.read())?.value).toMatchObject({ type: 'start' });
  expect(streams).toBe(2);
  await reader?.cancel();
});

test('a run that has ended is not replayed, unless the listed history lacks its end', async () => {
  const ended = { ...runRecord, status: 'completed', last_event_id: '000000000002' };
  const events = logOf(['run_started', {}], ['run_completed', {}]);
  await using server = await answering(serving(events, ended));
  const fresh = new ConvokeChatTransport({ session: sessionAt(server) });
  expect(await fresh.reconnectToStream()).toBeNull();
  const session = sessionAt(server);
  const listed = new ConvokeChatTransport({ session });
  await session.uiMessages.list().page();
  const stream = await listed.reconnectToStream();
  expect(stream).not.toBeNull();
  // Once it was shown, there is nothing to add.
  for await (const _chunk of stream ?? []);
  expect(await listed.reconnectToStream()).toBeNull();
});
