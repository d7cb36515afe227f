import { describe, expect, test } from 'vitest';
import {
  AgUiStream,
  RunTranscript,
  type TranscriptEvent,
  type UiChunk,
  UiStream,
  type UiStreamOptions,
  agUiMessages,
  snapshotBounds,
} from '../src/index.ts';
import { leastOf, workOf } from '../../server/test/support/processor-work.ts';
import { logOf, said } from './written-events.ts';

type Written = readonly [string, object];

const run = { sessionId: 'sess_1', runId: 'run_1' };
const bytesOf = (value: unknown) => JSON.stringify(value).length;
const several = (count: number, make: (index: number) => Written) =>
  Array.from({ length: count }, (_, index) => make(index));

const permission = (index: number, bytes = 20_000): Written => [
  'permission_request',
  {
    request_id: `p${index}`,
    interaction_key: `key_p${index}`,
    tool_name: 'Write',
    tool_input: { text: 'x'.repeat(bytes) },
    tool_call_id: `p${index}`,
  },
];
const question = (index: number): Written => [
  'user_question',
  { request_id: `q${index}`, interaction_key: `key_q${index}`, question: 'Which?' },
];
const answered = (index: number): Written => [
  'user_answered',
  { interaction_key: `key_q${index}`, answer: 'red' },
];

/** The chunks of a stream that gets its events in batches of this size, and then all of them are there. */
function chunksOf(
  events: readonly TranscriptEvent[],
  { batch, ...options }: Partial<UiStreamOptions> & { readonly batch: number },
): readonly UiChunk[] {
  const stream = new UiStream({ ...run, ...options });
  const taken = events.flatMap((event, index) =>
    stream.take(event, (index + 1) % batch !== 0 && index < events.length - 1),
  );
  return [stream.start(), ...taken, ...stream.pause()];
}

describe('requests beside answered questions (D-465)', () => {
  const requests = several(49, permission);
  const questions = several(50, question);
  const answers = several(50, answered);
  const logs = {
    'one after another': [...requests, ...questions, ...answers],
    'in turns': questions.flatMap((asked, index) => [asked, permission(index), answered(index)]),
    'with text between them': [
      ...requests,
      ...questions,
      ...answers.flatMap((answer, index) => [answer, said(`${index} `)]),
    ],
  };

  test.each(Object.entries(logs))(
    '%s are sent in at most three times the bytes of the log, to each version',
    (_, written) => {
      const events = logOf(['run_started', {}], ...written);
      for (const options of [{}, { sdk: 6 }, { isHeld: true }] as const) {
        const chunks = chunksOf(events, { ...options, batch: Infinity });
        expect(bytesOf(chunks)).toBeLessThan(3 * bytesOf(events));
        expect(chunks.filter(({ type }) => type === 'message-metadata').length).toBeLessThan(2);
      }
    },
  );

  test('are not sent to a reader that has them', () => {
    const events = logOf(['run_started', {}], ...logs['one after another']);
    for (const batch of [1, 5, Infinity]) {
      const none = chunksOf(events, { after: events.at(-1)?.id, batch });
      expect(none.map(({ type }) => type)).toEqual(['start', 'finish']);
      const step = chunksOf(events, { after: events.at(-2)?.id, batch });
      expect(bytesOf(step)).toBeLessThan(2 * bytesOf(requests));
    }
  });
});

describe('approvals with edited arguments (D-465)', () => {
  const edits = 99;
  const events = logOf(
    ['run_started', {}],
    ...several(edits + 1, (index) => permission(index, 10)),
    ...several(edits, (index) => [
      'permission_resolved',
      { interaction_key: `key_p${index}`, decision: 'allow', updated_input: { index } },
    ]),
  );
  const before = Array.from({ length: 300 }, (_, index) => ({
    id: `m${index}`,
    role: 'user',
    content: 'x'.repeat(10_000),
  }));
  const names = { threadId: 't', runId: 'r', run, before };

  /** What is sent, and how often the client's messages were read to render it. */
  function sentTo(after: string | undefined, isOneBatch: boolean) {
    let rendered = 0;
    const count = (message: object) => {
      rendered += 1;
      return message;
    };
    const counted = before.map((message) =>
      Object.defineProperty({ ...message }, 'toJSON', { value: () => count(message) }),
    );
    const stream = new AgUiStream({ ...names, before: counted, after });
    const sent = events.flatMap((event, index) =>
      stream.take(event, isOneBatch && index < events.length - 1),
    );
    sent.push(...stream.pause());
    const snapshots = sent.filter(({ type }) => type === 'MESSAGES_SNAPSHOT').length;
    return { rendered: rendered / before.length, snapshots };
  }

  test('render one snapshot a batch, and none for a client that is behind', () => {
    const last = events.at(-1)?.id;
    expect(sentTo(undefined, true)).toEqual({ rendered: 1, snapshots: 1 });
    for (const isOneBatch of [true, false]) {
      expect(sentTo(last, isOneBatch)).toEqual({ rendered: 1, snapshots: 1 });
    }
  });

  test('count what they add to what a stream remembers', () => {
    const large = { text: 'x'.repeat(100_000) };
    const grown = events.map((event) =>
      event.type === 'permission_resolved'
        ? { ...event, data: { ...Object(event.data), updated_input: large } }
        : event,
    );
    expect(bytesOf(agUiMessages(run, grown))).toBeLessThan(snapshotBounds.bytes + 200_000);
  });
});

describe('results that fit no call that was shown', () => {
  const count = 10_000;
  /** Calls of one name and then results of these. */
  const callsAndResults = (nameOf: (index: number) => string) =>
    logOf(
      ...several(count, () => ['stdio.tool_call', { name: 'a' }]),
      ...several(count, (index) => ['stdio.tool_result', { name: nameOf(index) }]),
    );

  const reading = (events: readonly TranscriptEvent[]) =>
    workOf(() => {
      const transcript = new RunTranscript();
      for (const event of events) transcript.take(event);
    });

  test('cost as much as those that fit', async () => {
    const fitting = callsAndResults(() => 'a');
    const others = callsAndResults((index) => `b${index % 50}`);
    const usual = Math.min(...Array.from({ length: 8 }, () => reading(fitting)));
    // Twice as many calls are made. Where each result walks all open calls, the work is more than a hundred times as
    // much.
    const below = 20 * usual;
    expect(await leastOf(() => reading(others), { below })).toBeLessThan(below);
  });

  test('are calls of their own, and open calls are found by their name and in their order', () => {
    const items = (...events: readonly Written[]) => {
      const transcript = new RunTranscript();
      return logOf(...events).flatMap((event) => transcript.take(event));
    };
    const taken = items(
      ...several(5, (index) => ['x.tool_call', { tool_call_id: `c${index}`, name: 'a' }]),
      ['x.tool_call', { name: 'a' }],
      ['x.tool_result', { tool_call_id: 'c0', name: 'a' }],
      ['x.tool_result', { tool_call_id: 'c2', name: 'a' }],
      ['x.tool_result', { name: 'a' }],
      ['x.tool_result', { name: 'a' }],
      ['x.tool_result', { tool_call_id: 'of no call', name: 'a' }],
      ['x.tool_result', { tool_call_id: 'of no call either', name: 'a' }],
      ['x.tool_result', { name: 'a' }],
      ['x.tool_result', { name: 'a' }],
    );
    const results = taken.flatMap((item) => (item.kind === 'result' ? [item.call] : []));
    const withoutId = 'call-000000000006';
    expect(results.slice(0, 6)).toEqual(['c0', 'c2', 'c1', 'c3', withoutId, 'of no call either']);
    expect(results.slice(6)).toEqual(['c4', 'call-000000000014']);
  });
});
