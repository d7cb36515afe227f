import type { Section, Slices } from './measure.ts';
import type { Figures, Row, TargetName } from './scenario.ts';
import { median, medianRatio, spread } from './statistics.ts';

const headings = ['', 'convoke', 'ref:sqlite', 'ref:mem', 'ratio', 'noise', 'processor', 'target'];

/**
 * One line per figure, and below them why some have none. The ratio is the median of what each round gave for Convoke
 * beside the reference, so what disturbed a round disturbed both; noise is the spread of the reference's own slices;
 * processor is the ratio of the servers' time on the processor per operation, which neighbours disturb least.
 */
export function table(sections: readonly Section[]): string {
  const lines = sections.flatMap(({ rows, slices, failure }) =>
    rows.map((row, index) =>
      failure === undefined ? line(row, slices, index === 0) : failedLine(row),
    ),
  );
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  const join = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const failures = sections.flatMap(({ failure }) =>
    failure === undefined ? [] : [`- ${failure}`],
  );
  const below = failures.length === 0 ? [] : ['', 'Failed:', '', ...failures];
  return [join(headings), rule, ...lines.map(join), ...below].join('\n');
}

function failedLine({ title, target }: Row): string[] {
  return [title, 'failed', '', '', '', '', '', target];
}

/** The history's pair uses the first two columns: with almost nothing stored, and with much. */
function line(row: Row, slices: Slices, isFirst: boolean): string[] {
  const mine = slices.has('convoke, old') ? 'convoke, old' : 'convoke';
  const other = slices.has('convoke, old') ? 'convoke' : 'ref:sqlite';
  const of = (name: TargetName) => valuesOf(slices.get(name), row.figure);
  const show = (name: TargetName) => (slices.has(name) ? amount(median(of(name)), row.unit) : '');
  return [
    row.title,
    show(mine),
    show(other),
    show('ref:mem'),
    ratioOf(of(mine), of(other)),
    slices.has(other) ? `${Math.round(spread(of(other)) * 100)} %` : '',
    isFirst
      ? ratioOf(valuesOf(slices.get(mine), 'cpuUs'), valuesOf(slices.get(other), 'cpuUs'))
      : '',
    row.target,
  ];
}

function valuesOf(slices: readonly Figures[] | undefined, figure: string): number[] {
  return (slices ?? []).flatMap((slice) => slice[figure] ?? []);
}

function ratioOf(mine: readonly number[], other: readonly number[]): string {
  const ratio = medianRatio(mine, other);
  return Number.isNaN(ratio) ? '' : `${ratio.toFixed(2)}x`;
}

function amount(value: number, unit: string): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = Number(value.toFixed(digits)).toLocaleString('en');
  return unit === '' || unit.startsWith('/') ? `${number}${unit}` : `${number} ${unit}`;
}
