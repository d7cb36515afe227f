/** `*` matches any number of characters; everything else is literal. Takes one pass over `text`, whatever the glob is. */
export function matchesGlob(glob: string, text: string): boolean {
  const [head = '', ...parts] = glob.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === glob;
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let from = head.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= end;
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}
