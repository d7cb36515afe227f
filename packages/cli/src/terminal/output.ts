import { styleText } from 'node:util';
import { clearSpinner } from './spinner.ts';

type Style = Parameters<typeof styleText>[0];

/** Colours text if the stream is a terminal (Node honours NO_COLOR and the like). */
export function styled(
  style: Style,
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return styleText(style, text, { stream });
}

/** Whether a prompt is possible. Prompts go to standard error, so standard output may be a file. */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Prints data. Nothing but data goes to standard output. */
export function print(text: string): void {
  write(`${text}\n`);
}

let lastWritten = '\n';

/** Writes data without a line break. */
export function write(text: string): void {
  clearSpinner();
  if (text !== '') lastWritten = text;
  process.stdout.write(text);
}

/** Whether the data written last does not end with a line break. */
export const isMidLine = (): boolean => !lastWritten.endsWith('\n');

/** Ends the line of data, so that a remark does not continue it. */
export function endLine(): void {
  if (isMidLine()) write('\n');
}

/** Prints a remark to standard error. */
export function remark(text: string, style?: Style): void {
  clearSpinner();
  process.stderr.write(`${style === undefined ? text : styled(style, text, process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0));
}

/** Prints a table; on a terminal, lines are cut to its width. */
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

/** Exits without an error when the reader closes the pipe, like `head` does. */
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

/** Removes control characters, so that text of an agent cannot control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '');
}

/** Joins lines and removes control characters, so that text of an agent cannot control the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
