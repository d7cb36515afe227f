import { type ReadonlySignal, signal } from '@preact/signals';

const seconds = signal(Date.now());
setInterval(() => {
  if (!document.hidden) seconds.value = Date.now();
}, 1000);

/** The time, once a second while the page is seen. */
export const now: ReadonlySignal<number> = seconds;
