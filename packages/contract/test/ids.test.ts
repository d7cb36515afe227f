import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatEventId, idPattern, idPrefixes, parseEventId } from '../src/index.ts';

describe('event ids (D-02)', () => {
  const seq = fc.integer({ min: 0, max: 999_999_999_999 });

  test('sort as text as they sort as numbers', () => {
    fc.assert(
      fc.property(seq, seq, (a, b) => {
        expect(formatEventId(a) < formatEventId(b)).toBe(a < b);
      }),
    );
  });

  test('parse to the number they were formatted from', () => {
    expect(formatEventId(42)).toBe('000000000042');
    fc.assert(fc.property(seq, (n) => parseEventId(formatEventId(n)) === n));
  });

  test.each([
    '',
    '42',
    '0000000000042',
    '00000000004x',
    ' 00000000042',
    '-00000000042',
    '٠٠٠٠٠٠٠٠٠٠٠١',
  ])('%j is not one', (text) => expect(parseEventId(text)).toBeUndefined());
});

test('ids are at most 64 letters, digits, dashes and underscores (D-01)', () => {
  expect(idPattern.test('sess_01ja3w8z5kq4v7m2x9c6t1r8en')).toBe(true);
  for (const id of ['', 'a'.repeat(65), 'a/b', 'a:retry', 'a\n', '..', 'é']) {
    expect(idPattern.test(id)).toBe(false);
  }
  expect(Object.values(idPrefixes)).toEqual(
    'org ten ws sess run int file cli cred inv bud usr sch wh whd con wait'.split(' '),
  );
});
