/** A line of a comparison: in both texts, only in the first, or only in the second. */
export interface ComparedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many lines in the changed part the texts are shown one after the other. */
const maxCompared = 1500;

/** Compares two texts by lines, by their longest common subsequence. */
export function lineDifference(before: string, after: string): ComparedLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail += 1;
  }
  return [
    ...a.slice(0, head).map((text) => line('same', text)),
    ...compared(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map((text) => line('same', text)),
  ];
}

function line(kind: ComparedLine['kind'], text: string): ComparedLine {
  return { kind, text };
}

function compared(a: readonly string[], b: readonly string[]): ComparedLine[] {
  if (a.length > maxCompared || b.length > maxCompared) {
    return [...a.map((text) => line('removed', text)), ...b.map((text) => line('added', text))];
  }
  const lengths = commonLengths(a, b);
  const lines: ComparedLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(line('same', a[i] ?? ''));
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      lines.push(line('removed', a[i] ?? ''));
      i += 1;
    } else {
      lines.push(line('added', b[j] ?? ''));
      j += 1;
    }
  }
  return lines;
}

function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] =
        a[i] === b[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

function at(lengths: readonly Uint16Array[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}
