import type { JSX } from 'preact';
import { h } from 'preact';
import { ChevronDown, Copy, Download, Menu, Paperclip, Search, X } from 'lucide';

const icons = { ChevronDown, Copy, Download, Menu, Paperclip, Search, X };

/** Always beside a text, or inside a control with a label: it is hidden from readers of the screen. */
export function Icon({ name }: { readonly name: keyof typeof icons }): JSX.Element {
  return (
    <svg class="icon-mark" viewBox="0 0 24 24" aria-hidden="true">
      {icons[name].map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

/** The mark of the product. */
export function Brand(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1d4ed8" />
      <path
        d="M21.5 11.2a7.5 7.5 0 1 0 0 9.6"
        fill="none"
        stroke="#fff"
        stroke-width="3.4"
        stroke-linecap="round"
      />
      <circle cx="23" cy="16" r="2.2" fill="#fff" />
    </svg>
  );
}
