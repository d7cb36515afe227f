import type { SearchEntry } from './entries.ts';
import type { SearchIndex } from './rank.ts';
import { synonyms } from './synonyms.ts';
import { wordsOf } from './words.ts';

/** Text behind this is not searched: the whole index has to stay small enough to be sent to a browser. */
const textMaxCharacters = 6000;
const excerptMaxCharacters = 90;
/** Weights are whole numbers, so that the index is short. */
const precision = 4;

/** Weighs every word of every entry: more in a title, and more if few entries have it. */
export function buildIndex(entries: readonly SearchEntry[]): SearchIndex {
  const weighed = entries.map(weightsOf);
  const counts = new Map<string, number>();
  for (const words of weighed) {
    for (const word of words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = new Map<string, number[]>();
  weighed.forEach((weights, at) => {
    for (const [word, weight] of weights) {
      const rarity = Math.log(1 + entries.length / (counts.get(word) ?? 1));
      const whole = Math.round(precision * weight * rarity);
      if (whole === 0) continue;
      const list = words.get(word) ?? [];
      list.push(at, whole);
      words.set(word, list);
    }
  });
  return {
    entries: entries.map(({ kind, title, context, text, excerpt = text, href }) => [
      kind,
      title,
      context,
      excerptOf(excerpt.replaceAll('`', '')),
      href,
    ]),
    words: Object.fromEntries(words),
    synonyms: Object.fromEntries(
      Object.entries(synonyms).map(([word, others]) => [
        wordsOf(word)[0] ?? word,
        others.flatMap(wordsOf),
      ]),
    ),
  };
}

function weightsOf({ title, context, names, text, weight }: SearchEntry): Map<string, number> {
  const inTitle = wordsOf(title);
  const inText = wordsOf(text.slice(0, textMaxCharacters));
  const sums = new Map<string, number>();
  const add = (words: readonly string[], worth: number) => {
    for (const word of new Set(words)) sums.set(word, (sums.get(word) ?? 0) + worth * weight);
  };
  add(inTitle, 3 + 4 / Math.max(inTitle.length, 1));
  add(wordsOf(names), 2);
  add(wordsOf(context), 1.5);
  const counts = Map.groupBy(inText, (word) => word);
  const patience = 1 + inText.length / 120;
  for (const [word, uses] of counts) add([word], (2.5 * uses.length) / (uses.length + patience));
  return sums;
}

function excerptOf(text: string): string {
  if (text.length <= excerptMaxCharacters) return text;
  return `${text.slice(0, excerptMaxCharacters).replace(/\s+\S*$/, '')} …`;
}
