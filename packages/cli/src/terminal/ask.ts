import type { Interrupts } from './interrupts.ts';
import { interrupted, readLine } from './read-line.ts';

export interface Asking {
  /** Aborted when the answer came from elsewhere, or when the run is no longer followed. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
}

/** Questions that arrive together are asked one after the other. */
let lastAsked: Promise<unknown> = Promise.resolve();

/** Runs a dialog with the person when those before it are over. */
export function inTurn<T>(dialog: () => Promise<T>): Promise<T> {
  const said = lastAsked.then(dialog);
  lastAsked = said.catch(() => undefined);
  return said;
}

/** Asks for one line; undefined if the person ended the input with Ctrl-D. */
export async function ask(question: string, asking: Asking): Promise<string | undefined> {
  const { signal, interrupts } = asking;
  for (;;) {
    await interrupts.settled();
    const said = await readLine(question, signal);
    if (said !== interrupted) return said;
    if ((await interrupts.raise()) === 'over') await rejectOnAbort(signal);
  }
}

/** Rejects once the signal is aborted. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(new Error('the question is already closed'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
