/**
 * Splits a text into the words that search compares: lower case, without endings, the parts of `run_waiting` and
 * `verifyWebhook` one by one. The server calls it for the index and the page's script for a query, so it uses nothing
 * but its argument: the script contains its text.
 */
export function wordsOf(text: string): Word[] {
  const stemOf = (word: string): string => {
    if (word.length < 4 || /\d/.test(word)) return word;
    const singular = word
      .replace(/ies$/, 'y')
      .replace(/(sh|ch|x|ss)es$/, '$1')
      .replace(/([^suiy])s$/, '$1');
    const plain = singular
      .replace(/^(.{3,}?)(?:ations?|ators?|ings?|ated?|al|ed|ers?|ions?|ly|ments?)$/, '$1')
      .replace(/([^aeioulsz])\1$/, '$1')
      .replace(/(.{4,})ll$/, '$1l');
    return plain.length > 3 ? plain.replace(/e$/, '') : plain;
  };
  const spaced = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).map((whole) => ({ whole, stem: stemOf(whole) }));
}

export type Word = {
  /** As it is written, in lower case. */
  readonly whole: string;
  /** Without its ending: what different forms of a word share. */
  readonly stem: string;
};
