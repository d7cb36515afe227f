import { oneLine, print, remark, styled } from './output.ts';

const gap = '  ';
/** No column of text is made narrower than this. */
const textMin = 10;
/** Characters of an id after its type that a shortened one keeps at least; the first ten are its time. */
const idMin = 10;
const idPattern = /^([a-z]+_)[0-9a-z]{26}$/;

type Row = readonly string[];

/** Prints a table. On a narrow terminal ids are shortened, which every command completes, and then texts are cut. */
export function printTable(head: Row, rows: readonly Row[]): void {
  if (rows.length === 0) return remark('(none)');
  printRows(
    head,
    rows.map((row) => row.map(oneLine)),
  );
}

/** The same of cells that are printable, and keep the spaces that they begin with. */
export function printRows(head: Row, rows: readonly Row[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  const [title = '', ...others] = fitted(head, rows, width);
  print(styled('bold', title));
  for (const line of others) print(line);
}

/** Prints names with their values; those without a value are left out. */
export function printFacts(facts: Readonly<Record<string, string | undefined>>): void {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...known.map(([name]) => name.length));
  for (const [name, value = ''] of known) print(`${name.padEnd(width)}${gap}${oneLine(value)}`);
}

/** Labels as they are typed: `key:value`, with spaces in between. */
export function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}:${value}`)
    .join('  ');
}

/** Renders the lines of a table, head first, so that none is longer than `width` if that is possible. */
export function fitted(head: Row, rows: readonly Row[], width: number): string[] {
  let shown = rows;
  let widths = widthsOf(head, shown);
  if (total(widths) > width) {
    shown = withShortIds(head, rows);
    widths = narrowed(widthsOf(head, shown), { head, rows, width });
  }
  return [head, ...shown].map((row) => {
    const cells = row.map((cell, column) => cut(cell, widths[column] ?? 0));
    return cut(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(gap)
        .trimEnd(),
      width,
    );
  });
}

function widthsOf(head: Row, rows: readonly Row[]): number[] {
  return head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
}

interface Narrowing {
  readonly head: Row;
  readonly rows: readonly Row[];
  readonly width: number;
}

/** Takes from the widest columns first, never from ids: half of an id is of no use. */
function narrowed(widths: readonly number[], { head, rows, width }: Narrowing): number[] {
  const fitting = [...widths];
  const least = head.map((title, column) => {
    const isId = rows.some((row) => idPattern.test(row[column] ?? ''));
    return isId ? (widths[column] ?? 0) : Math.max(textMin, title.length);
  });
  for (let excess = total(fitting) - width; excess > 0; excess--) {
    const spare = fitting.map((value, column) => (value > (least[column] ?? 0) ? value : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if (spare[widest] === 0) break;
    fitting[widest] = (fitting[widest] ?? 0) - 1;
  }
  return fitting;
}

/** Cuts ids to the shortest text that tells those of their column apart. */
function withShortIds(head: Row, rows: readonly Row[]): readonly Row[] {
  const lengths = head.map((_title, column) => {
    const ids = rows.map((row) => row[column] ?? '').filter((cell) => idPattern.test(cell));
    return ids.length === 0 ? Number.POSITIVE_INFINITY : uniqueLength(ids);
  });
  return rows.map((row) =>
    row.map((cell, column) => (idPattern.test(cell) ? cell.slice(0, lengths[column]) : cell)),
  );
}

/** Length of the shortest beginnings, at least the time of the ids, that tell ids of one type apart. */
export function uniqueLength(ids: readonly string[]): number {
  const different = new Set(ids).size;
  const [, type = ''] = idPattern.exec(ids[0] ?? '') ?? [];
  let length = type.length + idMin;
  while (new Set(ids.map((id) => id.slice(0, length))).size < different) length++;
  return length;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
