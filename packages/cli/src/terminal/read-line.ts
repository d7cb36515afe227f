import { createInterface } from 'node:readline/promises';
import { setAtPrompt } from './output.ts';
import { clearSpinner } from './spinner.ts';

/** What `readLine` returns after Ctrl-C, which reaches readline instead of the process while it reads. */
export const interrupted = Symbol('interrupted');

/** Asks for one line at the terminal; undefined if the person ended the input with Ctrl-D. */
export async function readLine(
  question: string,
  signal?: AbortSignal,
): Promise<string | undefined | typeof interrupted> {
  clearSpinner();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new Promise<undefined | typeof interrupted>((resolve) => {
    terminal.once('SIGINT', () => resolve(interrupted));
    terminal.once('close', () => resolve(undefined));
  });
  try {
    setAtPrompt(true);
    const typed = terminal.question(question, signal === undefined ? {} : { signal });
    const said = await Promise.race([typed, stopped]);
    return typeof said === 'string' ? said.trim() : said;
  } finally {
    // Whatever ends the question ends its line, too.
    setAtPrompt(false);
    terminal.close();
  }
}
