import { expect, test } from 'vitest';
import { queuedBehind } from '../src/terminal/queued-run.ts';

const since = '2026-11-18T10:00:00.000Z';
const until = '2026-12-02T10:00:00.000Z';
const run = { id: 'run_1', session_id: 'sess_1' };

test('what the run before waits for is said with the command that ends it, or that shows more', () => {
  const text = queuedBehind({
    ...run,
    waiting_on: [
      { kind: 'timer', name: 'cooling off', since, until },
      { kind: 'signal', name: 'paid', since },
      { kind: 'run', name: 'critic', since, child_run_id: 'run_2' },
      { kind: 'run', name: 'poet', since },
      { kind: 'interaction', name: 'question', since, interaction_key: 'int_1' },
      { kind: 'interaction', name: 'pay', since, interaction_key: 'int_2' },
    ],
  });
  expect(text.split('\n')).toEqual([
    'queued behind run_1:',
    '  sleeping, cooling off, until 2026-12-02 10:00:00 UTC',
    '  waits for the message paid; send it with: convoke runs signal run_1 paid',
    '  calls critic, run_2; see: convoke runs show run_2',
    '  calls poet',
    '  waits for an answer; answer with: convoke interactions answer sess_1 int_1 --answer …',
    '  waits for permission to run pay; answer with: convoke interactions answer sess_1 int_2 --allow',
    '  cancel it with: convoke runs cancel run_1',
  ]);
});

test('names cannot write to the terminal, nor begin a line', () => {
  const evil = { kind: 'interaction', name: 'x\u001b[2J\ny', since, interaction_key: 'k' } as const;
  const text = queuedBehind({ ...run, waiting_on: [evil] });
  expect(text.split('\n')).toHaveLength(3);
  expect(text).not.toContain('\u001b');
});
