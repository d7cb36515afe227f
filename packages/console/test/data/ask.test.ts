import { expect, test } from 'vitest';
import { isToldInRow } from '../../src/data/ask.ts';

test.each([
  [{ path: 'note.txt', text: 'Hello' }, true],
  [{ amount: 12.5 }, true],
  [{}, true],
  [{ text: 'one\ntwo' }, false],
  [{ text: 'x'.repeat(61) }, false],
  [{ force: false }, false],
  [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, false],
  [{ to: ['ann@example.com'] }, false],
  [{ options: { path: 'a' } }, false],
  [{ note: ' ' }, false],
  [['a'], false],
  [undefined, false],
])('whether a row tells all of %j: %j (D-724)', (input, isTold) => {
  expect(isToldInRow(input)).toBe(isTold);
});
