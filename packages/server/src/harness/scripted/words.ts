/** Longer words are cut, so that no event becomes too large. */
const pieceCharsMax = 16 * 1024;
const space = /\s*/y;
const word = /\S*/y;

/**
 * Splits a text into words, each with the space after it (the first also with the space before it). The pieces join to
 * exactly the text. A text of only space is one piece.
 */
export function* words(text: string): Generator<string> {
  let from = 0;
  let at = endOf(space, text, 0);
  while (from < text.length) {
    at = endOf(space, text, endOf(word, text, at));
    yield* pieces(text.slice(from, at));
    from = at;
  }
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return Math.max(from, pattern.lastIndex);
}

function* pieces(text: string): Generator<string> {
  let rest = text;
  while (rest.length > pieceCharsMax) {
    // Does not split a surrogate pair: half of one cannot be stored.
    const last = rest.charCodeAt(pieceCharsMax - 1);
    const cut = last >= 0xd800 && last <= 0xdbff ? pieceCharsMax - 1 : pieceCharsMax;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  yield rest;
}
