import type { JSX } from 'preact';
import { lineDifference } from '../../data/input/line-difference.ts';

const marks = { added: '+', removed: '−', same: ' ' } as const;

/** The changes, line by line. */
export function Difference(props: {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}): JSX.Element {
  return (
    <div class="code-block">
      <div class="difference" role="region" aria-label={props.label} tabIndex={0}>
        {lineDifference(props.before, props.after).map(({ kind, text }, index) => (
          <div key={index} class={kind}>
            {`${marks[kind]} ${text}`}
          </div>
        ))}
      </div>
    </div>
  );
}
