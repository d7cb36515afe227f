import type { JSX } from 'preact';
import { ago, duration, exact, until } from '../data/formats.ts';
import { settings } from '../page/settings.ts';
import { now } from '../page/clock.ts';

/** A moment: relative, exact on hover. */
export function Time({ at }: { readonly at: string }): JSX.Element {
  return (
    <time class="nowrap" dateTime={at} title={exact(at, settings.timeZone.value)}>
      {ago(at, now.value)}
    </time>
  );
}

/** "expires in 23 h", or nothing when the moment has passed. */
export function Until({
  at,
  before,
}: {
  readonly at: string;
  readonly before: string;
}): JSX.Element {
  const left = until(at, now.value);
  return (
    <span class="nowrap" title={exact(at, settings.timeZone.value)}>
      {left === undefined ? `${before} now` : `${before} in ${left}`}
    </span>
  );
}

/** How long something took, or takes. */
export function Took(props: {
  readonly from: string | undefined;
  readonly to: string | undefined;
}): JSX.Element | null {
  const { from, to } = props;
  if (from === undefined) return null;
  const end = to === undefined ? now.value : Date.parse(to);
  return <span class="nowrap">{duration(end - Date.parse(from))}</span>;
}
