import { expect, test } from 'vitest';
import { waitOf } from '../src/wait-of.ts';
import { createProgram } from '../src/program.ts';

test.each([
  'agents new',
  'agents check',
  'agents rehearse',
  'agents test',
  'backup',
  'doctor',
  'export',
  'admin',
])('`convoke %s` waits for no server', async (words) => {
  const [first = '', second] = words.split(' ');
  const named = (await createProgram([first])).commands.find((each) => each.name() === first);
  expect(named).toBeDefined();
  if (second !== undefined) expect(named?.commands.map((each) => each.name())).toContain(second);
  expect(waitOf(words.split(' '))).toBe('working');
});

test.each(['invoke', 'runs', 'agents list', 'agents show', 'watch'])(
  '`convoke %s` waits for one',
  (words) => expect(waitOf(words.split(' '))).toBe('waiting for the server'),
);
