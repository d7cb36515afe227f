/** What the browser gets to search in. */
export type SearchIndex = {
  /** Kind, title, what it is part of, beginning of the text, address from the root of the server. */
  readonly entries: readonly (readonly [string, string, string, string, string])[];
  /** By word: entry and weight, in turn. */
  readonly words: Readonly<Record<string, readonly number[]>>;
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
};

/**
 * Returns the entries that a query finds, best first, by their place in the index. An entry has a score for each word of
 * the query: that of the word itself, of a synonym or of a longer word. One that lacks a word of the query is far behind.
 * Like `wordsOf` it is part of the page's script.
 */
export function rank(index: SearchIndex, query: readonly string[]): number[] {
  const common =
    /^(a|an|and|are|can|do|for|how|i|in|is|it|my|of|on|or|the|to|use|what|when|where|with|you)$/;
  const rare = query.filter((word) => !common.test(word));
  const wanted = (rare.length > 0 ? rare : query).slice(0, 8);
  const found = new Map<number, { score: number; words: number }>();
  const all = Object.keys(index.words);
  for (const word of wanted) {
    const best = new Map<number, number>();
    const add = (name: string, share: number) => {
      const list = Object.hasOwn(index.words, name) ? (index.words[name] ?? []) : [];
      for (let at = 0; at < list.length; at += 2) {
        const [entry = 0, weight = 0] = list.slice(at, at + 2);
        best.set(entry, Math.max(best.get(entry) ?? 0, weight * share));
      }
    };
    add(word, 1);
    const others = Object.hasOwn(index.synonyms, word) ? (index.synonyms[word] ?? []) : [];
    for (const other of others) add(other, 0.85);
    if (word.length > 1) {
      const longer = all.filter((name) => name.startsWith(word) && name !== word).slice(0, 40);
      for (const name of longer) add(name, 0.5);
    }
    for (const [entry, score] of best) {
      const sum = found.get(entry) ?? { score: 0, words: 0 };
      found.set(entry, { score: sum.score + score, words: sum.words + 1 });
    }
  }
  const valueOf = ({ score, words }: { score: number; words: number }) =>
    score * (words / wanted.length) ** 3;
  return [...found]
    .sort(([a, one], [b, other]) => valueOf(other) - valueOf(one) || a - b)
    .slice(0, 20)
    .map(([entry]) => entry);
}
