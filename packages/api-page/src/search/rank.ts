import type { Word } from './words.ts';

/** The index that the browser searches. */
export type SearchIndex = {
  /** Kind, title, parent, beginning of the text, address from the root of the server. */
  readonly entries: readonly (readonly [string, string, string, string, string])[];
  /** By stem: entry and weight, in turn. */
  readonly words: Readonly<Record<string, readonly number[]>>;
  /** The same by whole words of titles, where they differ from their stems. */
  readonly titles: Readonly<Record<string, readonly number[]>>;
  /** By stem: the stems of words that mean the same. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
};

/**
 * Returns the entries that a query finds, best first, by their place in the index. An entry has a score for each word
 * of the query: that of the whole word in its title, of the stem, of a synonym or of a longer word. A word that is
 * nowhere may be two (`opentelemetry`). An entry that lacks a word of the query ranks far lower. Like `wordsOf` it is
 * part of the page's script.
 */
export function rank(index: SearchIndex, query: readonly Word[]): number[] {
  const common =
    /^(a|an|and|are|can|do|for|how|i|in|is|it|my|of|on|or|the|to|up|use|what|when|where|with|you)$/;
  const rare = query.filter(({ whole }) => !common.test(whole));
  const found = new Map<number, { score: number; words: number }>();
  const all = Object.keys(index.words);
  const known = (part: string): string | undefined =>
    [part, part.replace(/e$/, '')].find((stem) => Object.hasOwn(index.words, stem));
  const apart = (word: Word): readonly Word[] => {
    const { stem } = word;
    if (Object.hasOwn(index.synonyms, stem) || all.some((name) => name.startsWith(stem))) {
      return [word];
    }
    for (let at = stem.length - 3; at >= 3; at -= 1) {
      const [one, other] = [known(stem.slice(0, at)), known(stem.slice(at))];
      if (one !== undefined && other !== undefined) {
        return [one, other].map((each) => ({ whole: each, stem: each }));
      }
    }
    return [word];
  };
  const wanted = (rare.length > 0 ? rare : query).slice(0, 8).flatMap(apart);
  for (const { whole, stem } of wanted) {
    const best = new Map<number, number>();
    const add = (
      lists: Readonly<Record<string, readonly number[]>>,
      name: string,
      share: number,
    ) => {
      const list = Object.hasOwn(lists, name) ? (lists[name] ?? []) : [];
      for (let at = 0; at < list.length; at += 2) {
        const [entry = 0, weight = 0] = list.slice(at, at + 2);
        best.set(entry, Math.max(best.get(entry) ?? 0, weight * share));
      }
    };
    add(index.words, stem, 1);
    add(index.titles, whole, 1.4);
    const others = Object.hasOwn(index.synonyms, stem) ? (index.synonyms[stem] ?? []) : [];
    for (const other of others) add(index.words, other, 0.85);
    if (stem.length > 1) {
      const longer = all.filter((name) => name.startsWith(stem) && name !== stem).slice(0, 40);
      for (const name of longer) add(index.words, name, 0.5);
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
