import { styleText } from 'node:util';
import { printable, replaceDeceptive } from '@convoke/faces/printable';
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

let isAtPrompt = false;

/** Says whether a prompt stands on the line: the next line begins below it. */
export function setAtPrompt(isAt: boolean): void {
  isAtPrompt = isAt;
}

function leavePrompt(): void {
  if (isAtPrompt) process.stderr.write('\n');
  isAtPrompt = false;
}

/** Writes data without a line break. */
export function write(text: string): void {
  clearSpinner();
  leavePrompt();
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
  leavePrompt();
  process.stderr.write(`${style === undefined ? text : styled(style, text, process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(jsonText(value, process.stdout.isTTY ? 2 : 0));
}

/** Exits without an error when the reader closes the pipe, like `head` does. */
export function stopWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Leaves text as it is for a file or a pipe; for a terminal it is made printable. */
export function forOutput(text: string): string {
  return process.stdout.isTTY ? printable(text) : text;
}

/** Joins lines and makes the rest printable. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/gu, ' '));
}

/** JSON in which what could deceive a terminal is escaped: the value is the same. */
export function jsonText(value: unknown, indent?: number): string {
  return replaceDeceptive(JSON.stringify(value, null, indent), escaped);
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
