/**
 * `node bench/rules.ts ../before`: what rules about tool calls cost, beside a checkout from before they existed. Each
 * ratio is of processor time, of the server and of PostgreSQL's backends, taken in turn on the same machine in one run.
 */
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../test/repository.ts';
import { setup } from '../test/services.ts';
import { measureInTurn } from './checkouts.ts';
import type { Figures, Scenario } from './scenario.ts';
import { append } from './scenarios/append.ts';
import { calls, ruledCalls } from './scenarios/calls.ts';
import { starts } from './scenarios/starts.ts';
import { median, medianRatio, quantile } from './statistics.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'sqlite,postgres' },
    rounds: { type: 'string', default: '15' },
    scale: { type: 'string', default: 'quick' },
    now: { type: 'string', default: root },
  },
});
const [before] = positionals;
const { scale } = values;
if (before === undefined || (scale !== 'full' && scale !== 'quick' && scale !== 'smoke')) {
  console.error('usage: node bench/rules.ts <checkout from before rules>');
  console.error(
    '       [--database sqlite,postgres] [--rounds 15] [--scale full|quick|smoke] [--now checkout]',
  );
  process.exit(2);
}

/** The same work on both checkouts, and the bounds of the ratios. */
const rows: readonly Row[] = [
  { before: starts, now: [starts], bounds: ['1.03'] },
  { before: append, now: [append], bounds: ['1.03'] },
  { before: calls, now: [calls, ruledCalls], bounds: ['1.05', '1.15'] },
];

interface Row {
  readonly before: Scenario;
  readonly now: readonly Scenario[];
  readonly bounds: readonly string[];
}

const stop = await setup();
console.log(
  `load average ${(loadavg()[0] ?? 0).toFixed(1)} before the start; ${values.rounds} rounds`,
);
console.log(
  'database | scenario | bound | ratio | quartiles | µs before | now | statements before | now',
);
for (const database of ['sqlite', 'postgres'] as const) {
  if (!values.database.split(',').includes(database)) continue;
  for (const row of rows) await compare(database, row);
}
console.log(`load average ${(loadavg()[0] ?? 0).toFixed(1)} at the end`);
await stop?.();

/** Of the processor time of each round, so that what disturbed a round disturbed both. */
async function compare(database: 'sqlite' | 'postgres', row: (typeof rows)[number]): Promise<void> {
  const [older = [], ...newer] = await measureInTurn(
    [
      { scenario: row.before, checkout: resolve(before ?? '') },
      ...row.now.map((scenario) => ({ scenario, checkout: resolve(values.now) })),
    ],
    { scale: scale as 'full' | 'quick' | 'smoke', rounds: Number(values.rounds), database },
  );
  for (const [index, slices] of newer.entries()) {
    const ratios = slices.map((slice, round) => processorUs(slice) / processorUs(older[round]));
    const cells = [
      database,
      row.now[index]?.id ?? '',
      row.bounds[index] ?? '',
      medianRatio(slices.map(processorUs), older.map(processorUs)).toFixed(3),
      `${quantile(ratios, 0.25).toFixed(3)} to ${quantile(ratios, 0.75).toFixed(3)}`,
      ...[older, slices].map((all) => median(all.map(processorUs)).toFixed(1)),
      ...[older, slices].map((all) =>
        median(all.map((each) => each['statements'] ?? Number.NaN)).toFixed(1),
      ),
    ];
    console.log(cells.join(' | '));
  }
}

function processorUs(figures: Figures | undefined): number {
  return (figures?.['cpuUs'] ?? Number.NaN) + (figures?.['backendsUs'] ?? 0);
}
