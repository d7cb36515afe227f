import type { JSX } from 'preact';
import { plural } from '../data/formats.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Part of the value that failed. */
  readonly bad?: number | undefined;
}

const height = 72;

/** Bars per day or hour. Each tells its number on hover; the table or the sum beside it tells it to everyone. */
export function Bars(props: {
  readonly bars: readonly Bar[];
  readonly title: string;
}): JSX.Element {
  const { bars, title } = props;
  const top = Math.max(1, ...bars.map(({ value }) => value));
  const width = 100 / Math.max(1, bars.length);
  const sum = bars.reduce((total, { value }) => total + value, 0);
  return (
    <svg
      class="bars"
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}: ${plural(sum, 'in all', 'in all')}`}
    >
      {bars.map(({ label, value, bad = 0 }, index) => {
        const x = index * width + width * 0.12;
        const tall = (value / top) * (height - 4);
        const low = (bad / top) * (height - 4);
        return (
          <g key={label}>
            <title>{`${label}: ${value}`}</title>
            <rect x={x} y={height - tall} width={width * 0.76} height={tall} />
            {bad > 0 && (
              <rect class="bad" x={x} y={height - low} width={width * 0.76} height={low} />
            )}
          </g>
        );
      })}
      <line class="axis" x1="0" x2="100" y1={height} y2={height} />
    </svg>
  );
}
