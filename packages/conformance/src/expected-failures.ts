/** Requirements that are known to fail, with the reason of each. */
export type ExpectedFailures = ReadonlyMap<string, string>;

/** One line a requirement: its id, then the reason. Empty lines and those that begin with `#` are skipped. */
export function readExpectedFailures(text: string, known: readonly string[]): ExpectedFailures {
  const found = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, id, reason = ''] = /^(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (id === undefined || id.startsWith('#')) continue;
    const place = `line ${index + 1} of the expected failures`;
    if (!known.includes(id)) throw new Error(`${place} names no requirement: ${id}`);
    if (found.has(id)) throw new Error(`${place} repeats ${id}`);
    if (reason === '') throw new Error(`${place} gives no reason for ${id}`);
    found.set(id, reason);
  }
  return found;
}
