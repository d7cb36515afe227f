import { expect, test } from 'vitest';
import { McpRun, resultOf } from '../src/index.ts';
import { logOf, said } from './written-events.ts';

const until = '2026-01-02T03:04:05.678Z';
const started = (id: string, kind: string, more: object) =>
  ['wait_started', { wait_id: id, kind, ...more }] as const;
const ended = (id: string) =>
  ['wait_ended', { wait_id: id, kind: 'signal', name: 'go', outcome: 'received' }] as const;

/** The text that the model reads. */
function textAfter(...events: readonly (readonly [string, object])[]): string {
  const run = new McpRun({ sessionId: 'sess_1', runId: 'run_1' });
  for (const event of logOf(['run_started', {}], said('Hm. '), ...events)) run.take(event);
  return resultOf(run.state, undefined).content[0]?.text ?? '';
}

const running = (waits: string) =>
  `Hm. \n\nThe run has not ended. ${waits}Call convoke_wait with the run_id run_1 to wait for it.`;

test('the result of a run that has not ended names all that it waits for', () => {
  const all = [
    started('w1', 'timer', { name: 'a pause', until }),
    started('w2', 'signal', { name: 'go', until }),
    started('w3', 'run', { name: 'listener', child_run_id: 'run_2' }),
  ] as const;
  expect(textAfter(...all)).toBe(
    running(
      'The agent waits until 2026-01-02 03:04 UTC for "a pause"; for the message "go", until 2026-01-02 03:04 UTC at the latest; for a run of "listener". ',
    ),
  );
  expect(textAfter(...all, ended('w1'), ended('w2'))).toBe(
    running('The agent waits for a run of "listener". '),
  );
});

test('a run that works, and one that has ended, wait for nothing', () => {
  expect(textAfter()).toBe(running(''));
  expect(textAfter(started('w1', 'signal', { name: 'go' }), ended('w1'))).toBe(running(''));
  expect(textAfter(started('w1', 'signal', { name: 'go' }), ['run_completed', {}])).toBe('Hm. ');
});

test('names are shown without what could deceive, and shortened; of many waits the first are named', () => {
  const text = textAfter(
    started('w0', 'run', { name: 'a\u202e\n b' }),
    started('w1', 'run', { name: 'x'.repeat(300) }),
    ...Array.from({ length: 40 }, (_, index) =>
      started(`v${index}`, 'run', { name: `name ${index}` }),
    ),
  );
  expect(text).toContain(`for a run of "a⟨U+202E⟩ b"; for a run of "${'x'.repeat(100)}…"; for`);
  expect(text).toContain('"name 2"; for 37 more. Call');
});

test.each<readonly [string, readonly (readonly [string, object])[], string]>([
  ['a timer without a time', [started('w1', 'timer', { name: 'a pause' })], 'for "a pause"'],
  [
    'a time that is none',
    [started('w1', 'signal', { name: 'go', until: 'soon' })],
    'for the message "go"',
  ],
  ['a name that is no text', [started('w1', 'run', { name: 7 })], 'for a run of ""'],
  [
    'as many as are named, with names as long as are shown',
    Array.from({ length: 5 }, (_, at) => started(`w${at}`, 'run', { name: 'x'.repeat(100) })),
    Array(5)
      .fill(`for a run of "${'x'.repeat(100)}"`)
      .join('; '),
  ],
  [
    'one that is announced again, in its place',
    [
      started('w1', 'signal', { name: 'one' }),
      started('w2', 'signal', { name: 'two' }),
      started('w1', 'signal', { name: 'one' }),
      ['connection_used', { wait_id: 'w2' }],
      ['wait_started', { kind: 'signal', name: 'without an id' }],
    ],
    'for the message "one"; for the message "two"',
  ],
])('a run waits for %s', (_, events, waits) => {
  expect(textAfter(...events)).toBe(running(`The agent waits ${waits}. `));
});
