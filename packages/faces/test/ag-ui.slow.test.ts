import { HttpAgent, type Message, type RunAgentInput } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, test } from 'vitest';
import {
  type AgUiEvent,
  AgUiStream,
  type AgUiStreamOptions,
  type TranscriptEvent,
  agUiMessages,
  snapshotBounds,
  voidTextIn,
} from '../src/index.ts';
import { runLogs } from './run-logs.ts';
import { logOf, said, shownThenAsked } from './written-events.ts';

const run = { sessionId: 'sess_1', runId: 'run_1' };
const names = { threadId: 't', runId: 'r', run };

/** The events of a response that ends with the log, or with a wait. Those of the log come in batches of this size. */
function eventsOf(
  events: readonly TranscriptEvent[],
  { batch = 1, ...options }: Partial<AgUiStreamOptions> & { readonly batch?: number } = {},
) {
  const stream = new AgUiStream({ ...names, ...options });
  const sent = [...stream.start()];
  for (const [index, event] of events.entries()) {
    sent.push(...stream.take(event, (index + 1) % batch !== 0));
  }
  sent.push(...stream.pause());
  // A log may end where the run continues: the connection would be cut.
  if (!stream.isOver) sent.push(stream.fail('cut', 'cut'));
  return sent;
}

/** The library's agent: it validates and verifies each event. `connect` is the subclass of the guide. */
class Agent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    return this.run({ ...input, messages: [] });
  }
}

/** A client that has these messages, after a response. */
async function agentAfter(sent: readonly AgUiEvent[], before: readonly Message[] = []) {
  const body = sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const agent = new Agent({
    url: 'http://127.0.0.1/',
    threadId: 't',
    initialMessages: structuredClone([...before]),
    fetch: async () => new Response(body, { headers }),
  });
  await agent.connectAgent();
  return agent;
}

const messagesAfter = async (sent: readonly AgUiEvent[], before: readonly Message[] = []) =>
  (await agentAfter(sent, before)).messages;

function textOf(messages: readonly Message[]): string {
  return messages
    .map(({ role, content }) =>
      role === 'assistant' && typeof content === 'string' ? content : '',
    )
    .join('');
}

const callsIn = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
  );

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const isUnique = (ids: readonly string[]) => new Set(ids).size === ids.length;

describe.each(runLogs())('a log of $framework: $name', ({ events, outputText, pending }) => {
  const replay = { voids: voidTextIn(events), hasEnded: true };
  const last = events.at(-1)?.id ?? '';

  test('has events that pass the schemas of the library (D-212)', () => {
    for (const options of [{}, replay, { ...replay, after: last }]) {
      for (const event of eventsOf(events, options)) {
        const { success, error } = EventSchema.safeParse(event);
        expect([success, error?.message]).toEqual([true, undefined]);
      }
    }
  });

  test('is the text of the run, each call once, and its pending interactions', async () => {
    for (const options of [{}, replay, { ...replay, after: last }]) {
      const agent = await agentAfter(eventsOf(events, options));
      if (outputText !== null) expect(textOf(agent.messages)).toBe(outputText);
      expect(isUnique(callsIn(agent.messages))).toBe(true);
      expect(isUnique(agent.messages.map(({ id }) => id))).toBe(true);
      expect(agent.pendingInterrupts.map(({ id }) => id).toSorted()).toEqual(pending.toSorted());
    }
  });

  test('is shown alike live, in a replay and in a history', async () => {
    const whole = plain(await messagesAfter(eventsOf(events, replay)));
    for (const batch of [1, 3, events.length]) {
      expect(plain(await messagesAfter(eventsOf(events, { batch })))).toEqual(whole);
    }
    expect(plain(agUiMessages(run, events))).toEqual(whole);
  });

  test('a response that begins with a snapshot anywhere adds up to the same messages', async () => {
    const whole = plain(await messagesAfter(eventsOf(events, replay)));
    for (let seen = 0; seen <= events.length; seen += 1 + Math.floor(events.length / 4)) {
      const known = events.slice(0, seen);
      const first = await messagesAfter(eventsOf(known, { voids: voidTextIn(known) }));
      const after = known.at(-1)?.id ?? '';
      // The client has what was live then, void text included, and nothing of it is said twice.
      const rest = eventsOf(events, { ...replay, after });
      expect(plain(await messagesAfter(rest, first))).toEqual(whole);
    }
  });
});

const last = (events: readonly AgUiEvent[]) => events.at(-1);

test('a wait ends the response with an interrupt, which says how to answer (D-212)', () => {
  const question = {
    interaction_key: 'key_2',
    question: 'Which?',
    options: [{ label: 'a' }, { label: 'b' }],
  };
  const events = logOf(...shownThenAsked, ['user_question', { ...question, multiple: true }]);
  expect(last(eventsOf(events, { mayEdit: true }))).toMatchObject({
    type: 'RUN_FINISHED',
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: 'key_1',
          reason: 'tool_call',
          toolCallId: 'run_1-call-toolu_1',
          responseSchema: { properties: { approved: {}, editedArgs: {}, message: {} } },
        },
        {
          id: 'key_2',
          reason: 'input_required',
          message: 'Which?',
          responseSchema: {
            properties: { answer: { type: 'array', items: { enum: ['a', 'b'] } } },
          },
        },
      ],
    },
    metadata: { convoke: { status: 'waiting', waiting: ['key_1', 'key_2'] } },
  });
  expect(JSON.stringify(last(eventsOf(events)))).not.toContain('editedArgs');
});

test.each([
  ['one of no options', {}, { type: 'string' }],
  ['one of options', { options: [{ label: 'a' }, {}] }, { type: 'string', enum: ['a', ''] }],
  ['many without options', { multiple: true }, { type: 'array', items: { type: 'string' } }],
])('a question that wants %s says exactly that', (_what, details, answer) => {
  const question = { interaction_key: 'key_1', question: 'Which?', ...details };
  const ended = last(eventsOf(logOf(['run_started', {}], ['user_question', question])));
  const [interrupt] =
    ended?.type === 'RUN_FINISHED' && ended.outcome?.type === 'interrupt'
      ? ended.outcome.interrupts
      : [];
  expect(interrupt?.responseSchema).toEqual({
    type: 'object',
    properties: { answer },
    required: ['answer'],
  });
});

test('thoughts are reasoning, what is said is the assistant, and only text that is void leaves', () => {
  const events = logOf(
    ['run_started', {}],
    ['claude.thought', { text: 'Hm. ' }],
    said('Kept. '),
    ['claude.tool_call', { tool_call_id: 'c', name: 'Read', input: {} }],
    ['claude.tool_result', { tool_call_id: 'c', content: 'text' }],
    ['claude.thought', { text: 'Then ' }],
    said('void'),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000006' }],
  );
  const stream = new AgUiStream(names);
  for (const event of events) stream.take(event);
  expect(stream.messages()).toMatchObject([
    { role: 'reasoning', content: 'Hm. ' },
    { role: 'assistant', content: 'Kept. ' },
    { role: 'assistant', toolCalls: [{ function: { name: 'Read', arguments: '{}' } }] },
    { role: 'tool', content: 'text' },
    { role: 'reasoning', content: 'Then ' },
  ]);
});

test('of more messages than a snapshot has, the oldest are forgotten, and one alone never is', () => {
  const calls = Array.from({ length: snapshotBounds.messages + 5 }, (_, index) => {
    return ['claude.tool_call', { tool_call_id: `c${index}`, name: 'Read', input: {} }] as const;
  });
  const kept = (log: readonly TranscriptEvent[]) => {
    const stream = new AgUiStream(names);
    for (const event of log) stream.take(event);
    return stream.messages();
  };
  const messages = kept(logOf(['run_started', {}], ...calls));
  expect(messages).toHaveLength(snapshotBounds.messages);
  expect(messages[0]).toMatchObject({ toolCalls: [{ id: 'run_1-call-c5' }] });
  const input = { text: 'x'.repeat(snapshotBounds.bytes + 1) };
  const large = ['claude.tool_call', { tool_call_id: 'c', name: 'Write', input }] as const;
  expect(kept(logOf(['run_started', {}], large))).toHaveLength(1);
});

test('a denied call stays denied, whatever the agent gets instead of a result', async () => {
  const events = logOf(
    ...shownThenAsked,
    ['permission_resolved', { interaction_key: 'key_1', decision: 'deny', message: 'no' }],
    ['claude.tool_result', { tool_call_id: 'toolu_1', content: 'written' }],
    ['run_completed', {}],
  );
  const messages = await messagesAfter(eventsOf(events));
  expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
    {
      content: 'A person denied this call: no',
      metadata: { convoke: { outcome: 'denied' } },
    },
  ]);
});

test('edited arguments replace those that were shown', async () => {
  const events = logOf(
    ...shownThenAsked,
    [
      'permission_resolved',
      { interaction_key: 'key_1', decision: 'allow', updated_input: { path: 'b' } },
    ],
    ['claude.tool_result', { tool_call_id: 'toolu_1', content: 'written' }],
    ['run_completed', {}],
  );
  const messages = await messagesAfter(eventsOf(events));
  expect(messages[1]).toMatchObject({ toolCalls: [{ function: { arguments: '{"path":"b"}' } }] });
  expect(messages[2]).toMatchObject({ role: 'tool', content: 'written' });
});

test('text that an interruption discards leaves the client, and its other messages stay (D-212)', async () => {
  const events = logOf(
    ['run_started', {}],
    said('kept '),
    said('void '),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000003' }],
    said('again'),
    ['run_completed', {}],
  );
  const before = [{ id: 'm1', role: 'user', content: 'hi' }] as const;
  const live = eventsOf(events, { before });
  expect(live.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
  const messages = await messagesAfter(live, before);
  expect([messages[0], textOf(messages)]).toEqual([before[0], 'kept again']);
});

test('a batch with edited calls ends with one snapshot, and its open text continues after it (D-465)', async () => {
  const edited = { decision: 'allow', updated_input: { path: 'b' } };
  const events = logOf(
    ...shownThenAsked,
    ['permission_request', { interaction_key: 'key_2', tool_name: 'Read', tool_call_id: 'read' }],
    said('while '),
    ['permission_resolved', { interaction_key: 'key_1', ...edited }],
    said('one '),
    said('void '),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000009' }],
    ['permission_resolved', { interaction_key: 'key_2', ...edited }],
    said('two '),
    said('three'),
    ['run_completed', {}],
  );
  const whole = plain(await messagesAfter(eventsOf(events)));
  const snapshots = ({ type }: AgUiEvent) => type === 'MESSAGES_SNAPSHOT';
  for (let batch = 2; batch <= events.length; batch += 1) {
    const sent = eventsOf(events, { batch });
    expect(plain(await messagesAfter(sent))).toEqual(whole);
    if (batch > 6) expect(sent.filter(snapshots).length).toBeLessThan(3);
  }
  expect(plain(agUiMessages(run, events))).toEqual(whole);
});

test('a snapshot in the middle of a text continues it', async () => {
  const events = logOf(['run_started', {}], said('one '), said('two'), ['run_completed', {}]);
  const sent = eventsOf(events, { after: '000000000002' });
  expect(sent.map(({ type }) => type)).toEqual([
    'RUN_STARTED',
    'MESSAGES_SNAPSHOT',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'RUN_FINISHED',
  ]);
  expect(await messagesAfter(sent)).toEqual([
    { id: 'run_1-2', role: 'assistant', content: 'one two' },
  ]);
});

test('a failure is an error while it happens, and the state of the run afterwards (D-208)', () => {
  const failed = ['error', { message: 'broken', error_code: 'agent_error' }] as const;
  const events = logOf(['run_started', {}], said('x'), failed);
  expect(last(eventsOf(events))).toMatchObject({ type: 'RUN_ERROR', message: 'broken' });
  expect(last(eventsOf(events, { hasEnded: true }))).toMatchObject({
    type: 'RUN_FINISHED',
    metadata: { convoke: { status: 'failed', error_code: 'agent_error' } },
  });
});

test('a call without a result, and a request without an answer, are over when the run is', async () => {
  for (const [end, content] of [
    ['run_cancelled', 'The run ended first.'],
    ['run_completed', 'No result was reported.'],
  ] as const) {
    const agent = await agentAfter(eventsOf(logOf(...shownThenAsked, [end, {}])));
    expect(agent.pendingInterrupts).toEqual([]);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'tool', content });
  }
  expect(last(eventsOf(logOf(...shownThenAsked, ['run_cancelled', {}])))).toMatchObject({
    outcome: { type: 'cancelled' },
  });
});

test('a run with many large calls is remembered up to the bound, and says so (D-435)', () => {
  const calls = Array.from({ length: 80 }, (_, index) => {
    const tool_call_id = `c${index}`;
    return [
      ['claude.tool_call', { tool_call_id, name: 'Read', input: { path: 'a' } }],
      ['claude.tool_result', { tool_call_id, content: 'x'.repeat(64 * 1024) }],
    ] as const;
  }).flat();
  const stream = new AgUiStream(names);
  const sent = logOf(['run_started', {}], ...calls).flatMap((event) => stream.take(event));
  const results = sent.flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [event] : []));
  expect(results.every(({ content }) => content.length === 64 * 1024)).toBe(true);
  const kept = stream.messages();
  expect(JSON.stringify(kept).length).toBeLessThan(snapshotBounds.bytes + 40_000);
  expect(kept.at(-1)).toMatchObject({ id: 'run_1-result-c79', content: 'x'.repeat(64 * 1024) });
  const [ended] = stream.take({ id: '000000009999', type: 'run_completed', data: {} }).slice(-1);
  expect(ended).toMatchObject({ metadata: { convoke: { truncated: true } } });
});

test('a snapshot is bounded: the newest messages fit, by number and by bytes (D-435)', () => {
  const much = Array.from({ length: 40 }, () => said('é'.repeat(64 * 1024)));
  const events = logOf(['run_started', {}], ...much, said('the end'), ['run_completed', {}]);
  const before = Array.from({ length: 2000 }, (_, index) => ({
    id: `m${index}`,
    role: 'user',
    content: 'x',
  }));
  for (const log of [events, events.slice(0, 3)]) {
    const [, snapshot] = eventsOf(log, { before, after: log.at(-1)?.id });
    const messages = snapshot?.type === 'MESSAGES_SNAPSHOT' ? snapshot.messages : [];
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.length).toBeLessThanOrEqual(snapshotBounds.messages);
    expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThan(
      snapshotBounds.bytes + snapshotBounds.messages + 2,
    );
    const { content } = messages.at(-1) as { content: string };
    expect(content.endsWith(log === events ? 'the end' : 'é')).toBe(true);
  }
});
