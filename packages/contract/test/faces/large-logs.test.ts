import { describe, expect, test } from 'vitest';
import { type TurnEvent, type UiChunk, UiStream, type UiStreamOptions } from '../../src/index.ts';
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
  events: readonly TurnEvent[],
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
