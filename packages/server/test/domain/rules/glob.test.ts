import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areaCovers, matchesGlob, mayMatchSame } from '../../../src/domain/rules/glob.ts';

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

  const globs = fc
    .array(fc.constantFrom('a', 'b', '*'), { maxLength: 5 })
    .map((letters) => letters.join(''));
  const words = textsOf(['a', 'b', 'c'], 8);

  test('covers another only if it matches each of its texts', () => {
    expect(areaCovers(['x', 'mail/*'], ['mail/s*', 'x'])).toBe(true);
    expect(areaCovers(['mail/*'], ['mail*'])).toBe(false);
    fc.assert(
      fc.property(globs, globs, (one, other) => {
        const isInside = words.every((word) => !matchesGlob(other, word) || matchesGlob(one, word));
        if (areaCovers([one], [other])) expect(isInside).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('may match the same as another exactly if some text is matched by both', () => {
    fc.assert(
      fc.property(globs, globs, (one, other) => {
        const hasSame = words.some((word) => matchesGlob(one, word) && matchesGlob(other, word));
        expect(mayMatchSame(one, other)).toBe(hasSame);
      }),
      { numRuns: 100 },
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

/** Every text of these letters up to a length. */
function textsOf(letters: readonly string[], most: number): string[] {
  const all = [''];
  let longest = [''];
  for (let length = 1; length <= most; length += 1) {
    longest = longest.flatMap((text) => letters.map((letter) => text + letter));
    all.push(...longest);
  }
  return all;
}
