import { expect, test } from 'vitest';
import { shownValue } from '../../src/harness/shown-value.ts';

test('an event shows a short value as it is, and of a long one the beginning', () => {
  const short = { path: 'a.txt', lines: [1, null] };
  expect(shownValue(short)).toBe(short);
  const long = shownValue({ text: 'x'.repeat(20_000) });
  expect(long).toMatch(/^\{"text":"x+…$/);
  expect(long).toHaveLength(16 * 1024 + 1);
});

test('a cut between the halves of a character leaves no half of it', () => {
  // The quote comes first, so the last place has the first half of a pair.
  const cut = shownValue('😀'.repeat(10_000));
  expect(JSON.stringify(cut)).not.toMatch(/\\ud[89a-f]/);
});
