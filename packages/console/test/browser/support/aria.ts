import type { Locator } from 'playwright-core';

/**
 * The roles and names in a part of the page, as one text to be reviewed. What differs from one start to the next is
 * replaced: ids, hashes, ends of secrets, times, days, numbers and addresses of this machine. A list says once what its
 * rows look like, because how many there are may depend on what the server has counted so far.
 */
export async function structureOf(part: Locator): Promise<string> {
  const lines = normalised(await part.ariaSnapshot()).split('\n');
  return `${withoutRepeats(lines).join('\n')}\n`;
}

function normalised(text: string): string {
  return (
    text
      .replaceAll(/\b([0-9a-f]{64}|(?=\d*[a-f])[0-9a-f]{8})\b/g, 'HASH')
      .replaceAll(/\b[a-z]+_([0-9a-z]{16,}|(?=[a-z]*\d)[0-9a-z]{3,})(…[0-9a-z]{0,4})?/g, 'ID')
      .replaceAll(/\b(just now|\d+ (s|min|h) ago)/g, 'TIME')
      .replaceAll(
        /\b\d[\d,.]* ?(ms|s|min|m|h|d|k|M|kB|MB|GB|B|days?|years?)\b( \d+ (s|min|m|h))?/g,
        'SIZE',
      )
      .replaceAll(/(?<=code: )…\S{4}$/gm, 'SECRET')
      .replaceAll(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]{2}( \d{4})?\b/g, 'DAY')
      // What took no time is not shown.
      .replaceAll(/(queued|ran) SIZE( ran SIZE)?( waited SIZE)?$/gm, 'queued SIZE')
      .replaceAll(/(?<!level=)\d+/g, 'N')
  );
}

/** Leaves out a line, with all that is below it, that says the same as one beside it. */
function withoutRepeats(lines: readonly string[]): string[] {
  const said = new Set<string>();
  return blocksOf(lines).flatMap(([first = '', ...below]) => {
    const block = [first, ...withoutRepeats(below)];
    const text = block.join('\n');
    if (said.has(text)) return [];
    said.add(text);
    return block;
  });
}

/** Each line of the least depth, with the deeper lines that follow it. */
function blocksOf(lines: readonly string[]): string[][] {
  const depth = Math.min(...lines.map(depthOf));
  const blocks: string[][] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (last === undefined || depthOf(line) === depth) blocks.push([line]);
    else last.push(line);
  }
  return blocks;
}

function depthOf(line: string): number {
  return line.length - line.trimStart().length;
}
