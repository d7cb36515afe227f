import * as seven from 'ai';
import * as six from 'ai-v6';
import { formatEventId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import {
  type TranscriptEvent,
  type UiChunk,
  UiStream,
  type UiStreamOptions,
  assistantMessage,
  voidTextIn,
} from '../src/index.ts';
import { runLogs } from './run-logs.ts';
import { logOf, permission, said, shownThenAsked } from './written-events.ts';

// The compiler proves that the library takes our chunks and messages.
const chunkOf = (chunk: UiChunk): seven.UIMessageChunk => chunk;

const run = { sessionId: 'sess_1', runId: 'run_1' };

/** The chunks of a response that ends with the log, or with a wait. Its events come in batches of this size. */
function chunksOf(
  events: readonly TranscriptEvent[],
  { batch = 1, ...options }: Partial<UiStreamOptions> & { readonly batch?: number } = {},
) {
  const stream = new UiStream({ ...run, ...options });
  const chunks = [stream.start()];
  for (const [index, event] of events.entries()) {
    chunks.push(...stream.take(event, (index + 1) % batch !== 0));
  }
  chunks.push(...stream.pause());
  return { chunks, stream };
}

/** The message that the library builds, on top of one that it has. */
async function built(chunks: readonly UiChunk[], before?: seven.UIMessage, library = seven) {
  const stream = new ReadableStream<seven.UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunkOf(chunk));
      controller.close();
    },
  });
  let last: seven.UIMessage | undefined;
  const message = before && structuredClone(before);
  for await (const each of library.readUIMessageStream({ stream, ...(message && { message }) })) {
    last = each;
  }
  return last;
}

const plain = (message: unknown) => JSON.parse(JSON.stringify(message)) as seven.UIMessage;
const textOf = (message: seven.UIMessage | undefined) =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

describe.each(runLogs())('a log of $framework: $name', ({ events, outputText }) => {
  const replay = { voids: voidTextIn(events), hasEnded: true };
  // A log may end where the run continues: then there is no last word about it.
  const { isOver } = chunksOf(events, replay).stream;
  const compared = (message: unknown) => (isOver ? plain(message) : plain(message).parts);

  test('has chunks that pass the schema of the library, of version 6 too', async () => {
    for (const [library, sdk] of [
      [seven, 7],
      [six, 6],
    ] as const) {
      const schema = library.uiMessageChunkSchema() as unknown as {
        validate: (value: unknown) => Promise<{ success: boolean }>;
      };
      for (const chunk of chunksOf(events, { ...replay, sdk }).chunks) {
        expect([chunk, (await schema.validate(chunk)).success]).toEqual([chunk, true]);
      }
    }
  });

  test('is the message that the history shows, with the text of the run (D-203)', async () => {
    const streamed = await built(chunksOf(events, replay).chunks);
    expect(compared(assistantMessage(run, events))).toEqual(compared(streamed));
    if (outputText !== null) expect(textOf(streamed)).toBe(outputText);
  });

  test('a stream and what continues it add up to a replay, wherever a person is asked (D-205)', async () => {
    const whole = compared(await built(chunksOf(events, replay).chunks));
    const waits = events.flatMap(({ type }, index) =>
      type === 'permission_request' || type === 'user_question' ? [index + 1] : [],
    );
    for (const seen of waits) {
      const first = chunksOf(events.slice(0, seen), { voids: voidTextIn(events.slice(0, seen)) });
      const finish = first.chunks.at(-1);
      if (finish?.type !== 'finish' || finish.finishReason !== 'tool-calls') continue;
      const shown = await built(first.chunks);
      const { last_event_id: after } = finish.messageMetadata;
      const rest = chunksOf(events, { ...replay, after });
      if (rest.stream.mustCut) continue;
      expect(compared(await built(rest.chunks, shown))).toEqual(whole);
    }
  });

  test('is the same message in batches of any size (D-465)', async () => {
    const whole = compared(await built(chunksOf(events, replay).chunks));
    for (const batch of [2, 3, events.length]) {
      const options = { ...replay, batch };
      expect(compared(await built(chunksOf(events, options).chunks))).toEqual(whole);
    }
  });

  test('live, what is void is taken back or the connection is cut (D-207)', async () => {
    const { chunks, stream } = chunksOf(events);
    if (stream.mustCut) return;
    const live = plain(await built(chunks.filter(({ type }) => type !== 'error')));
    const whole = plain(await built(chunksOf(events, replay).chunks));
    expect(live.parts).toEqual(whole.parts);
  });

  test.runIf(isOver)(
    'after every response the helpers of the library send nothing on their own (D-206)',
    async () => {
      const message = await built(chunksOf(events, replay).chunks);
      const messages = message === undefined ? [] : [message];
      expect(seven.lastAssistantMessageIsCompleteWithApprovalResponses({ messages })).toBe(false);
      expect(seven.lastAssistantMessageIsCompleteWithToolCalls({ messages })).toBe(false);
    },
  );
});

test('thoughts are reasoning, and the message of the history is the one that the library builds', async () => {
  const events = logOf(
    ['run_started', {}],
    ['claude.thought', { text: 'Hm. ' }],
    ['claude.thought', { text: 'Well. ' }],
    said('Hello'),
    ['claude.thought', { text: 'And ' }],
    said(' there'),
    ['run_completed', {}],
  );
  const parts = [
    { type: 'reasoning', text: 'Hm. Well. ', state: 'done' },
    { type: 'text', text: 'Hello', state: 'done' },
    { type: 'reasoning', text: 'And ', state: 'done' },
    { type: 'text', text: ' there', state: 'done' },
  ];
  const shown = assistantMessage(run, events);
  expect(shown.parts.filter(({ type }) => type !== 'step-start')).toMatchObject(parts);
  expect(plain(shown)).toEqual(plain(await built(chunksOf(events, { hasEnded: true }).chunks)));
});

test('the server carries a call out, and the client a question: only it has an output to give', () => {
  const events = logOf(
    ['run_started', {}],
    ['claude.tool_call', { tool_call_id: 'c', name: 'Read', input: {} }],
    ['claude.tool_result', { tool_call_id: 'c', content: 'text' }],
    ['user_question', { interaction_key: 'key_1', question: 'Which?' }],
  );
  const calls = chunksOf(events).chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' ? [[chunk.toolName, chunk.providerExecuted]] : [],
  );
  expect(calls).toEqual([
    ['Read', true],
    ['ask_user', undefined],
  ]);
});

test('a call that was shown before it is asked about moves into the step of requests (D-206)', async () => {
  const message = await built(chunksOf(logOf(...shownThenAsked)).chunks);
  expect(message?.parts.map((part) => ('state' in part ? part.state : part.type))).toEqual([
    'step-start',
    'done',
    'step-start',
    'approval-requested',
  ]);
});

test.each([7, 6] as const)(
  'an answered question beside an open request sends nothing again, with version %s (D-206)',
  async (sdk) => {
    const question = { request_id: 'q', interaction_key: 'key_2', question: 'Which?' };
    const events = logOf(
      ...shownThenAsked,
      ['user_question', question],
      ['user_answered', { interaction_key: 'key_2', answer: 'red' }],
    );
    const message = await built(chunksOf(events, { sdk }).chunks);
    const messages = message === undefined ? [] : [message];
    expect(seven.lastAssistantMessageIsCompleteWithApprovalResponses({ messages })).toBe(false);
    expect(seven.lastAssistantMessageIsCompleteWithToolCalls({ messages })).toBe(false);
    expect(message?.parts.at(-1)).toMatchObject({ state: 'approval-requested' });
    if (sdk === 7) expect(plain(assistantMessage(run, events))).toEqual(plain(message));
  },
);

/** A log with several open questions and requests, which are answered while the agent continues. */
const busy = logOf(
  ['run_started', {}],
  ...[1, 2, 3].flatMap((each) => [
    ['user_question', { interaction_key: `q${each}`, question: 'Which?' }] as const,
    ['permission_request', { interaction_key: `p${each}`, tool_call_id: `p${each}` }] as const,
  ]),
  ['user_answered', { interaction_key: 'q1', answer: 'red' }],
  said('one '),
  ['permission_resolved', { interaction_key: 'p2', decision: 'allow' }],
  said('void '),
  ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000011' }],
  ['user_answered', { interaction_key: 'q3', answer: 'blue' }],
  ['user_question', { interaction_key: 'q4', question: 'And?' }],
  said('two '),
  ['user_answered', { interaction_key: 'q2', answer: 'green' }],
  ['claude.tool_result', { tool_call_id: 'p2', content: 'done' }],
  said('three '),
  said('four'),
);

test('questions that are answered beside open requests are the same message in batches of any size (D-465)', async () => {
  for (let end = 2; end <= busy.length; end += 1) {
    const events = busy.slice(0, end);
    const whole = plain(await built(chunksOf(events).chunks));
    for (const batch of [2, 3, 5, busy.length]) {
      expect(plain(await built(chunksOf(events, { batch }).chunks))).toEqual(whole);
      const after = events.at(-1)?.id;
      // What the reader has is not said again, though it may have been kept back in the middle of a batch.
      const rest = await built(chunksOf(busy, { after, batch }).chunks, whole);
      expect(plain(rest)).toEqual(plain(await built(chunksOf(busy).chunks)));
    }
  }
});

test.each([7, 6] as const)(
  'text beside open requests is continued where a response ended in it, with version %s (D-205)',
  async (sdk) => {
    const text = Array.from('Two more words come later.', said);
    const asked = ['user_question', { interaction_key: 'q1', question: 'Which?' }] as const;
    const events = logOf(['run_started', {}], asked, ...text, ['run_completed', {}]);
    const library = sdk === 7 ? seven : six;
    let message: seven.UIMessage | undefined;
    for (const end of [5, 9, events.length]) {
      const after = end === 5 ? undefined : formatEventId(end === 9 ? 5 : 9);
      const { chunks } = chunksOf(events.slice(0, end), { sdk, after });
      message = await built(chunks, message, library as typeof seven);
    }
    expect(textOf(message)).toBe('Two more words come later.');
    const texts = message?.parts.filter(({ type }) => type === 'text');
    expect(texts).toHaveLength(sdk === 7 ? 1 : 3);
    for (const part of texts ?? []) expect(part).toMatchObject({ state: 'done' });
  },
);

test('a request after an answered question sends nothing again (D-206)', async () => {
  const question = { request_id: 'q', interaction_key: 'key_2', question: 'Which?' };
  const events = logOf(
    ['run_started', {}],
    ['user_question', question],
    ['user_answered', { interaction_key: 'key_2', answer: 'red' }],
    ['permission_request', permission],
  );
  const message = await built(chunksOf(events).chunks);
  const messages = message === undefined ? [] : [message];
  expect(seven.lastAssistantMessageIsCompleteWithToolCalls({ messages })).toBe(false);
});

test('a denied call stays denied, whatever the agent gets instead of a result', async () => {
  const events = logOf(
    ...shownThenAsked,
    ['permission_resolved', { interaction_key: 'key_1', decision: 'deny', message: 'no' }],
    ['claude.tool_result', { tool_call_id: 'toolu_1', is_error: true, content: 'refused' }],
    said('Then not.'),
    ['run_completed', {}],
  );
  const message = await built(chunksOf(events, { hasEnded: true }).chunks);
  expect(message?.parts[3]).toMatchObject({
    state: 'output-denied',
    approval: { id: 'key_1', approved: false, reason: 'no' },
  });
});

test('text that an interruption discards leaves the message while it is shown (D-207)', async () => {
  const events = logOf(
    ['run_started', {}],
    said('kept '),
    said('void '),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000003' }],
    said('again'),
    ['run_completed', {}],
  );
  const { chunks, stream } = chunksOf(events);
  expect(chunks.map(({ type }) => type)).toContain('reset-step');
  expect([textOf(await built(chunks)), stream.mustCut]).toEqual(['kept again', false]);
  expect(chunksOf(events, { sdk: 6 }).stream.mustCut).toBe(true);
  const replayed = chunksOf(events, { sdk: 6, voids: voidTextIn(events) });
  expect(textOf(await built(replayed.chunks))).toBe('kept again');
});

test('void text of an earlier step cuts the connection, and a replay does not show it', async () => {
  const question = { interaction_key: 'key_1', request_id: 'r', question: 'Which?' };
  const events = logOf(
    ['run_started', {}],
    said('void '),
    ['user_question', question],
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000002' }],
    said('again'),
  );
  expect(chunksOf(events, { isHeld: true }).stream.mustCut).toBe(true);
  const replayed = chunksOf(events, { isHeld: true, voids: voidTextIn(events) });
  expect([textOf(await built(replayed.chunks)), replayed.stream.mustCut]).toEqual(['again', false]);
});

test('a request that was not answered before the run ended is no longer asked', async () => {
  const events = logOf(...shownThenAsked, ['run_cancelled', {}]);
  const { chunks } = chunksOf(events, { isHeld: true });
  const message = await built(chunks);
  expect(message?.parts[3]).toMatchObject({ state: 'output-error' });
  expect(chunks.slice(-2).map(({ type }) => type)).toEqual(['abort', 'finish']);
  const messages = message === undefined ? [] : [message];
  expect(seven.lastAssistantMessageIsCompleteWithApprovalResponses({ messages })).toBe(false);
});

test('a failure is an error while it happens, and the state of the message afterwards (D-208)', () => {
  const events = logOf(
    ['run_started', {}],
    ['error', { message: 'broken', error_code: 'agent_error' }],
  );
  expect(chunksOf(events).chunks.at(-1)).toEqual({ type: 'error', errorText: 'broken' });
  expect(chunksOf(events, { hasEnded: true }).chunks.at(-1)).toMatchObject({
    type: 'finish',
    finishReason: 'error',
    messageMetadata: { status: 'failed', error_message: 'broken', error_code: 'agent_error' },
  });
});
