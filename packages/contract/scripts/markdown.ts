/** A table of cells that hold no `|`. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function markdownPage(blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`;
}
