import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesGlob } from '../../../src/domain/rules/glob.ts';

describe('a glob', () => {
  test.each([
    ['write_file', 'write_file', true],
    ['write_file', 'write_files', false],
    ['write_*', 'write_file', true],
    ['*', '', true],
    ['*', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['*_file', 'read_file', true],
    ['tickets/*', 'tickets/create', true],
    ['tickets/*', 'ticket', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['**', 'x', true],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
  ])('%s against %s → %s', (glob, text, isMatch) => {
    expect(matchesGlob(glob, text)).toBe(isMatch);
  });

  test('means what the same pattern means as a regular expression', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*', '.'), { maxLength: 8 });
    const words = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 });
    fc.assert(
      fc.property(letters, words, (glob, word) => {
        const pattern = glob
          .map((letter) => (letter === '*' ? '.*' : `\\x${hex(letter)}`))
          .join('');
        const text = word.join('');
        expect(matchesGlob(glob.join(''), text)).toBe(new RegExp(`^${pattern}$`, 's').test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('takes one pass, however many stars it has', () => {
    // With backtracking, each of these would take longer than the universe is old.
    const text = 'a'.repeat(16 * 1024);
    expect(matchesGlob(`${'*a'.repeat(90)}*b`, text)).toBe(false);
    expect(matchesGlob(`${'*aa*a'.repeat(30)}*ab*`, text)).toBe(false);
    expect(matchesGlob(`*${'a'.repeat(197)}b*`, text)).toBe(false);
    expect(matchesGlob(`${'*a'.repeat(90)}*`, text)).toBe(true);
  });
});

function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16).padStart(2, '0');
}
