import { options } from 'preact';
import { printable } from '../data/formats.ts';

/** Attributes whose value a person reads or hears. */
const readAttributes = ['title', 'aria-label', 'alt', 'placeholder', 'label'];

/**
 * Makes characters visible that change how the text around them is read, in every text node and every attribute that
 * people read (D-300). Preact creates all of them through this one hook, so no component can forget it.
 */
export function keepTextVisible(): void {
  const next = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const { type, props } = vnode as { type: unknown; props: unknown };
    if (typeof props === 'string') (vnode as { props: unknown }).props = printable(props);
    else if (typeof type === 'string') cleanAttributes(props as Record<string, unknown>);
    next?.(vnode);
  };
}

function cleanAttributes(props: Record<string, unknown>): void {
  for (const name of readAttributes) {
    const value = props[name];
    if (typeof value === 'string') props[name] = printable(value);
  }
}
