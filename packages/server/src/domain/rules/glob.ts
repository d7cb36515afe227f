/**
 * `*` matches any number of characters; everything else is literal. Takes one pass over `text`, whatever the glob is.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const first = glob.indexOf('*');
  if (first === -1) return text === glob;
  const last = glob.lastIndexOf('*');
  // Before anything is split: of a hundred rules, most are about other tools.
  if (!text.startsWith(glob.slice(0, first)) || !text.endsWith(glob.slice(last + 1))) return false;
  const end = text.length - (glob.length - last - 1);
  if (first === last) return first <= end;
  let from = first;
  for (const part of glob.slice(first + 1, last).split('*')) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= end;
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}

/** Whether every text that one of `globs` matches is matched by one of `area`. */
export function areaCovers(area: readonly string[], globs: readonly string[]): boolean {
  // A `*` of the glob is a character that only a `*` of the area matches, whatever stands in its place.
  return globs.every((glob) => matchesAny(area, glob));
}

/** Whether some text is matched by both globs. */
export function mayMatchSame(one: string, other: string): boolean {
  if (!one.includes('*')) return matchesGlob(other, one);
  if (!other.includes('*')) return matchesGlob(one, other);
  // What stands between the first and the last `*` can follow each other in the text.
  const [head, tail] = [headOf(one), tailOf(one)];
  const [otherHead, otherTail] = [headOf(other), tailOf(other)];
  return (
    (head.startsWith(otherHead) || otherHead.startsWith(head)) &&
    (tail.endsWith(otherTail) || otherTail.endsWith(tail))
  );
}

function headOf(glob: string): string {
  return glob.slice(0, glob.indexOf('*'));
}

function tailOf(glob: string): string {
  return glob.slice(glob.lastIndexOf('*') + 1);
}
