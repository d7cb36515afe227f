import type { ComponentChildren, JSX } from 'preact';
import { number } from '../data/formats.ts';

export interface Tab {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly count?: number | undefined;
}

/** Tabs are links: each has an address of its own. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(({ name, href, isCurrent, count }) => (
        <a key={name} href={href} aria-current={isCurrent ? 'page' : undefined} data-keep-scroll>
          {name}
          {count !== undefined && <span class="count">{number(count)}</span>}
        </a>
      ))}
      {props.children !== undefined && <span class="aside">{props.children}</span>}
    </nav>
  );
}

export function Segments(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
}): JSX.Element {
  return (
    <nav class="segments" aria-label={props.label}>
      {props.tabs.map(({ name, href, isCurrent }) => (
        <a key={name} href={href} aria-current={isCurrent ? 'page' : undefined} data-keep-scroll>
          {name}
        </a>
      ))}
    </nav>
  );
}
