import { limits } from '@convoke/contract';

/** The beginning of a text in one line, for lists. */
export function previewOf(text: string, characters: number = limits.previewCharacters): string {
  // Twice as many code units hold at least as many characters.
  const line = text
    .slice(0, characters * 2)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  if (line.length <= characters) return line;
  return Array.from(line).slice(0, characters).join('');
}
