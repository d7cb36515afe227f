/**
 * `node bench/compare.ts ../before`: this checkout in turn with another one, and both beside the reference. On a
 * machine whose speed changes from hour to hour, only servers that are measured in turn can be compared.
 */
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../test/repository.ts';
import { setup } from '../test/services.ts';
import { measureCheckouts } from './checkouts.ts';
import { deltasMany } from './scenarios/deltas.ts';
import { firstEvent } from './scenarios/first-event.ts';
import { starts } from './scenarios/starts.ts';
import { median, medianRatio } from './statistics.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: 'starts,first-event' },
    rounds: { type: 'string', default: '9' },
    quick: { type: 'boolean', default: false },
  },
});
const [before] = positionals;
const { database } = values;
if (before === undefined || (database !== 'sqlite' && database !== 'postgres')) {
  console.error('usage: node bench/compare.ts <checkout> [--database sqlite|postgres]');
  console.error('       [--only starts,first-event,deltas-32] [--rounds 9] [--quick]');
  process.exit(2);
}

const rows: Readonly<Record<string, readonly string[]>> = {
  [starts.id]: ['starts', 'done', 'cpuUs', 'backendsUs', 'statements', 'roundTrips'],
  [firstEvent.id]: ['p50', 'p99', 'cpuUs'],
  [deltasMany.id]: ['firstEvent', 'p50', 'cpuUs'],
};
const stop = await setup();
console.log(
  `load average ${(loadavg()[0] ?? 0).toFixed(1)} before the start; medians of ${values.rounds} rounds`,
);
console.log('scenario | figure | this | before | reference | of before | of reference');
for (const scenario of [starts, firstEvent, deltasMany]) {
  if (!values.only.split(',').includes(scenario.id)) continue;
  const [mine = [], other = [], reference = []] = await measureCheckouts({
    scenario,
    scale: values.quick ? 'quick' : 'full',
    rounds: Number(values.rounds),
    database,
    checkouts: [root, resolve(before)],
  });
  for (const figure of rows[scenario.id] ?? []) {
    const [a = [], b = [], c = []] = [mine, other, reference].map((slices) =>
      slices.flatMap((slice) => slice[figure] ?? []),
    );
    // Round trips on SQLite, and the backends of a PostgreSQL elsewhere.
    if (a.every((value) => value === 0)) continue;
    const cells = [...[a, b, c].map((all) => median(all).toFixed(2)), ratio(a, b), ratio(a, c)];
    console.log([scenario.id, figure, ...cells].join(' | '));
  }
}
await stop?.();

function ratio(mine: readonly number[], other: readonly number[]): string {
  return `${medianRatio(mine, other).toFixed(2)}x`;
}
