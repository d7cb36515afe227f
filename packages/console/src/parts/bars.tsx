import type { JSX } from 'preact';
import { dayName, number } from '../data/formats.ts';

export interface Bar {
  /** The day, as `2026-11-15`. */
  readonly label: string;
  readonly value: number;
  /** Part of the value that failed. */
  readonly bad?: number | undefined;
}

const height = 72;

/** Bars per day. Each tells its number on hover; the table or the sum beside it tells it to everyone. */
export function Bars(props: {
  readonly bars: readonly Bar[];
  readonly title: string;
}): JSX.Element {
  const { bars, title } = props;
  const top = Math.max(1, ...bars.map(({ value }) => value));
  const width = 100 / Math.max(1, bars.length);
  const sum = bars.reduce((total, { value }) => total + value, 0);
  return (
    <div class="chart">
      <svg
        class="bars"
        viewBox={`0 0 100 ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${number(sum)} in total`}
      >
        {bars.map(({ label, value, bad = 0 }, index) => {
          const x = index * width + width * 0.12;
          const tall = value === 0 ? 2 : Math.max(3, (value / top) * (height - 4));
          const low = (bad / top) * (height - 4);
          return (
            <g key={label}>
              <title>{`${dayName(label)}: ${number(value)}`}</title>
              <rect
                class={value === 0 ? 'zero' : ''}
                x={x}
                y={height - tall}
                width={width * 0.76}
                height={tall}
              />
              {bad > 0 && (
                <rect class="bad" x={x} y={height - low} width={width * 0.76} height={low} />
              )}
            </g>
          );
        })}
      </svg>
      <div class="ends" aria-hidden="true">
        <span>{dayName(bars[0]?.label ?? '')}</span>
        <span>{dayName(bars.at(-1)?.label ?? '')}</span>
      </div>
    </div>
  );
}
