/** A longer word is compared up to here. */
const wordMax = 64;

/** Finds the known name that was probably meant; undefined if none is near. Case and `-` for `_` do not count. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const word = plain(typed);
  const longer = known.find((name) => word.length > 2 && plain(name).startsWith(word));
  if (longer !== undefined) return longer;
  const farthest = Math.max(1, Math.min(3, Math.floor(word.length / 3)));
  const [best] = known
    .filter((name) => Math.abs(plain(name).length - word.length) <= farthest)
    .map((name) => ({ name, distance: editDistance(word, plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= farthest ? best.name : undefined;
}

function plain(name: string): string {
  return name.slice(0, wordMax).toLowerCase().replaceAll('-', '_');
}

/** How many letters to add, leave out or change, or neighbours to swap, to get from one word to the other. */
function editDistance(a: string, b: string): number {
  let last: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (last[j - 2] ?? i) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    last = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
