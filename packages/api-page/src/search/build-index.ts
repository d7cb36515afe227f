import type { SearchEntry } from './entries.ts';
import type { SearchIndex } from './rank.ts';
import { synonyms } from './synonyms.ts';
import { wordsOf } from './words.ts';

/** Text after so many characters is not searched: the whole index has to stay small enough to be sent to a browser. */
const textMaxCharacters = 6000;
const excerptMaxCharacters = 90;
/** Weights are whole numbers, so that the index is short. */
const precision = 4;

/** Weighs every word of every entry: more in a title, and more if few entries have it. */
export function buildIndex(entries: readonly SearchEntry[]): SearchIndex {
  return {
    entries: entries.map(({ kind, title, context, text, excerpt = text, href }) => [
      kind,
      title,
      context,
      excerptOf(excerpt.replaceAll('`', '')),
      href,
    ]),
    words: listsOf(entries.map(stemWeights)),
    titles: listsOf(entries.map(titleWeights)),
    synonyms: Object.fromEntries(
      Object.entries(synonyms).map(([word, others]) => [
        stemsOf(word)[0] ?? word,
        others.flatMap(stemsOf),
      ]),
    ),
  };
}

type Weights = ReadonlyMap<string, number>;

/** By word: the entries that have it, each with its weight. */
function listsOf(entries: readonly Weights[]): Record<string, readonly number[]> {
  const counts = new Map<string, number>();
  for (const words of entries) {
    for (const word of words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const lists = new Map<string, number[]>();
  entries.forEach((weights, at) => {
    for (const [word, weight] of weights) {
      const rarity = Math.log(1 + entries.length / (counts.get(word) ?? 1));
      const whole = Math.round(precision * weight * rarity);
      if (whole === 0) continue;
      const list = lists.get(word) ?? [];
      list.push(at, whole);
      lists.set(word, list);
    }
  });
  return Object.fromEntries(lists);
}

function stemsOf(text: string): string[] {
  return wordsOf(text).map(({ stem }) => stem);
}

function stemWeights({ title, context, names, text, weight }: SearchEntry): Weights {
  const inTitle = stemsOf(title);
  const inText = stemsOf(text.slice(0, textMaxCharacters));
  const sums = new Map<string, number>();
  const add = (words: readonly string[], worth: number) => {
    for (const word of new Set(words)) sums.set(word, (sums.get(word) ?? 0) + worth * weight);
  };
  add(inTitle, titleWorth(inTitle.length));
  add(stemsOf(names), 4);
  add(stemsOf(context), 1.5);
  const counts = Map.groupBy(inText, (word) => word);
  const patience = 1 + inText.length / 120;
  for (const [word, uses] of counts) add([word], (2.5 * uses.length) / (uses.length + patience));
  return sums;
}

function titleWeights({ title, weight }: SearchEntry): Weights {
  const words = wordsOf(title);
  const worth = titleWorth(words.length) * weight;
  const inflected = words.filter(({ whole, stem }) => whole !== stem);
  return new Map(inflected.map(({ whole }) => [whole, worth]));
}

/** A word is worth more in a short title. */
function titleWorth(words: number): number {
  return 3 + 4 / Math.max(words, 1);
}

function excerptOf(text: string): string {
  if (text.length <= excerptMaxCharacters) return text;
  return `${text.slice(0, excerptMaxCharacters).replace(/\s+\S*$/, '')} …`;
}
