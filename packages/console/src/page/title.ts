import { type Signal, effect, signal } from '@preact/signals';
import { printable } from '../data/formats.ts';

/** The screen that is shown, for the title of the document. */
export const screenTitle: Signal<string> = signal('');

/** How much waits for the person. A tab in the background says it in its title. */
export const waitingCount: Signal<number> = signal(0);

/** Keeps the title of the document in step with the screen and with the number of open requests. */
export function keepTitle(): void {
  effect(() => {
    const count = waitingCount.value === 0 ? '' : `(${waitingCount.value}) `;
    const title = screenTitle.value === '' ? '' : `${printable(screenTitle.value)} · `;
    document.title = `${count}${title}Convoke`;
  });
}
