import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const messages = signal<readonly { readonly id: number; readonly text: string }[]>([]);
const shownMs = 4000;
const maxShown = 3;
let next = 0;

/** Says something short: shown for a moment and read out. */
export function announce(text: string): void {
  const id = (next += 1);
  messages.value = [...messages.value.slice(1 - maxShown), { id, text }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.id !== id);
  }, shownMs);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map(({ id, text }) => (
        <div class="toast" key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
