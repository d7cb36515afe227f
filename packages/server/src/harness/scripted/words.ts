/** A word so long that it would make one outsized event is cut; whoever joins the pieces has the text again. */
const pieceCharsMax = 16 * 1024;

/**
 * Cuts a text into its words, each with the space that follows it (the first one also with what stands
 * before it). The pieces join to exactly the text. A text of nothing but space is one piece.
 */
export function* words(text: string): Generator<string> {
  let from = 0;
  let at = endOf(/\s*/y, text, 0);
  while (from < text.length) {
    at = endOf(/\s*/y, text, endOf(/\S*/y, text, at));
    yield* pieces(text.slice(from, at));
    from = at;
  }
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return Math.max(from, pattern.lastIndex);
}

function* pieces(word: string): Generator<string> {
  let rest = word;
  while (rest.length > pieceCharsMax) {
    // Half of a surrogate pair is not text: an event that carried one could not be stored as it is.
    const last = rest.charCodeAt(pieceCharsMax - 1);
    const cut = last >= 0xd800 && last <= 0xdbff ? pieceCharsMax - 1 : pieceCharsMax;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  yield rest;
}
