import type { ComponentChildren, JSX } from 'preact';

/** One sentence and the one next step. */
export function Empty(props: {
  readonly title: string;
  /** The whole screen says it: then it is the heading. */
  readonly isScreen?: boolean | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      {props.isScreen === true ? <h1>{props.title}</h1> : <strong>{props.title}</strong>}
      {props.children}
    </div>
  );
}

const widths = ['w90', 'w60', 'w75', 'w40'];

/** Only on a first visit: afterwards the old content stays. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="skeleton" aria-busy="true">
      <p class="hidden-text" role="status">
        Loading
      </p>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class={widths[index % widths.length]} />
      ))}
    </div>
  );
}

export function LoadBar({ on }: { readonly on: boolean }): JSX.Element {
  return <div class={`load-bar ${on ? 'on' : ''}`} aria-hidden="true" />;
}
