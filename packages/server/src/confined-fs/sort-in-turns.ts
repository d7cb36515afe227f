import { nextTurn } from '../runtime/next-turn.ts';

/** Texts sorted or merged before other work gets its turn. */
const turnTexts = 5_000;

/** Sorts texts and lets other work run in between: sorting 100,000 names at once blocks the event loop for 100 ms. */
export async function sortInTurns(texts: readonly string[]): Promise<readonly string[]> {
  if (texts.length <= turnTexts) return texts.toSorted();
  let parts: (readonly string[])[] = [];
  for (let from = 0; from < texts.length; from += turnTexts) {
    parts.push(texts.slice(from, from + turnTexts).sort());
    await nextTurn();
  }
  while (parts.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < parts.length; at += 2) {
      merged.push(await merge(parts[at] ?? [], parts[at + 1] ?? []));
    }
    parts = merged;
  }
  return parts[0] ?? [];
}

async function merge(
  left: readonly string[],
  right: readonly string[],
): Promise<readonly string[]> {
  const merged: string[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [a, b] = [left[l], right[r]];
    if (b === undefined || (a !== undefined && a <= b)) {
      merged.push(a ?? '');
      l += 1;
    } else {
      merged.push(b);
      r += 1;
    }
    if (merged.length % turnTexts === 0) await nextTurn();
  }
  return merged;
}
