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

/** Exits without an error when the reader closes the pipe, like `head` does. */
export function stopWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Removes control characters, so that text of an agent cannot control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '');
}

/** Leaves text as it is for a file or a pipe; for a terminal, without control characters. */
export function forOutput(text: string): string {
  return process.stdout.isTTY ? printable(text) : text;
}

/** Joins lines and removes control characters, so that text of an agent cannot control the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
