/** `node bench/postgres.ts [--quick] [--rounds 5]`: run starts on PostgreSQL beside a bare server and `pgbench`. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { setup } from '../test/services.ts';
import { measureStarts } from './cluster/starts.ts';
import type { Figures } from './scenario.ts';
import { median, medianRatio } from './statistics.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' } },
});
const scale = values.quick ? 'quick' : 'full';
const rounds = Number(values.rounds ?? { full: 5, quick: 2 }[scale]);
const busy = () => (loadavg()[0] ?? 0).toFixed(1);

const stop = await setup();
const busyBefore = busy();
const { convoke, reference, pgbench } = await measureStarts(scale, rounds);
const of = (slices: readonly Figures[], figure: string) =>
  slices.flatMap((slice) => slice[figure] ?? []);
const shown = (figures: readonly number[], unit: number, digits: number) =>
  figures.length === 0 ? '' : (median(figures) / unit).toFixed(digits);
const ratio = (mine: readonly number[], other: readonly number[]) =>
  other.length === 0 ? '' : medianRatio(mine, other).toFixed(2);

const rows = [
  { figure: 'done', title: 'runs/s, started and executed, 32 connections', unit: 1, digits: 0 },
  { figure: 'cpuUs', title: 'processor time of the server per run, ms', unit: 1000, digits: 2 },
  {
    figure: 'backendsUs',
    title: 'processor time of PostgreSQL per run, ms',
    unit: 1000,
    digits: 2,
  },
  { figure: 'statements', title: 'statements per run', unit: 1, digits: 1 },
  { figure: 'roundTrips', title: 'round trips per run', unit: 1, digits: 1 },
];
const lines = rows.map(({ figure, title, unit, digits }, index) => {
  const [mine, other] = [of(convoke, figure), of(reference, figure)];
  const alone = index === 0 ? pgbench : [];
  const cells = [
    shown(mine, unit, digits),
    shown(other, unit, digits),
    shown(alone, unit, digits),
    ratio(mine, other),
    ratio(mine, alone),
  ];
  return `| ${title} | ${cells.join(' | ')} |`;
});
process.stdout.write(
  [
    '',
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}) for everything;`,
    `${rounds} rounds, medians; load average ${busyBefore} before the start, ${busy()} at the end`,
    '',
    '| | convoke | ref:postgres | pgbench | of ref | of pgbench |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n'),
);
await stop?.();
