import { styleText } from 'node:util';
import { clearSpinner } from './spinner.ts';

type Style = Parameters<typeof styleText>[0];

/** Colour only where a person looks (NO_COLOR and the like are honoured by Node). */
export function styled(
  style: Style,
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return styleText(style, text, { stream });
}

/** Whether somebody can be asked. What they are asked goes to standard error, so the answer may go to a file. */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Data, and nothing else, goes to standard output. */
export function print(text: string): void {
  write(`${text}\n`);
}

/** A piece of a line of data. */
export function write(text: string): void {
  clearSpinner();
  process.stdout.write(text);
}

/** What is said beside the data. */
export function remark(text: string, style?: Style): void {
  clearSpinner();
  process.stderr.write(`${style === undefined ? text : styled(style, text, process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0));
}

/** Columns as wide as they need to be; on a terminal no line is wider than it. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return remark('(none)');
  const lines = rows.map((row) => row.map(oneLine));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    fitted(cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  print(styled('bold', line(head)));
  for (const row of lines) print(line(row));
}

/** A reader that has enough, like `head`, is no failure. */
export function stopWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

function fitted(text: string): string {
  const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  const whole = text.trimEnd();
  return whole.length <= width ? whole : `${whole.slice(0, width - 1)}…`;
}

/** Also keeps what an agent wrote from steering the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
