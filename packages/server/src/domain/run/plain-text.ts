/**
 * Whether a text has no control character and no lone surrogate. PostgreSQL refuses a NUL in a text, and either of them
 * can mislead the program or the terminal that shows a name.
 */
export function isPlain(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** Makes a plain name of at most `maxCharacters` from any text, without the characters that a name cannot have. */
export function plainName(text: string, maxCharacters: number): string {
  return text
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, maxCharacters)
    .toWellFormed();
}
