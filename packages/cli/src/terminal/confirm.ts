import { exitCodes } from '../failure.ts';
import { isInteractive } from './output.ts';
import { interrupted, readLine } from './read-line.ts';

/** Asks for a yes at a terminal, until the answer is clear; a script is not asked and continues. */
export async function askToConfirm(question: string): Promise<boolean> {
  if (!isInteractive()) return true;
  for (;;) {
    const said = await askForText(question);
    if (said === undefined || /^no?$/i.test(said)) return false;
    if (/^y(es)?$/i.test(said)) return true;
  }
}

/** Asks for a line at a terminal; undefined after Ctrl-D. Ctrl-C ends the command. */
export async function askForText(question: string): Promise<string | undefined> {
  const said = await readLine(question);
  if (said === interrupted) process.exit(exitCodes.interrupted);
  return said;
}
