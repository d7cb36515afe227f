/** `node bench/run.ts [--quick] [--only starts,replay] [--rounds 5] [--profile folder] [--packed bin/convoke.mjs]` */
import { mkdirSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { canPin } from './cores.ts';
import { type MeasureOptions, measure, measureBoot } from './measure.ts';
import type { Row } from './scenario.ts';
import { scenarios } from './scenarios/all.ts';
import { table } from './table.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    profile: { type: 'string' },
    packed: { type: 'string' },
  },
});

const scale = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
const rounds = Number(values.rounds ?? { full: 7, quick: 3, smoke: 1 }[scale]);
const wanted = values.only?.split(',');
const isWanted = (id: string) => wanted === undefined || wanted.includes(id);
const ids = [...scenarios.map(({ id }) => id), 'boot'];
const unknown = wanted?.find((id) => !ids.includes(id));
if (unknown !== undefined)
  throw new Error(`there is no ${unknown}; --only takes ${ids.join(', ')}`);
const chosen = scenarios.filter(({ id }) => isWanted(id));
const inRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const options: MeasureOptions = {
  scale,
  rounds,
  report: (line) => process.stderr.write(`… ${line}\n`),
  ...(values.profile !== undefined && { profiles: values.profile }),
  programs: { checkout: inRoot('packages/cli/bin/convoke.mjs'), packed: values.packed },
};
if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true });

const bootRows: readonly Row[] = [
  row('again', 'boot to ready, from a checkout', 'ms', '≤ 600 ms'),
  row('first', '… the first time', 'ms', ''),
  row('rss', '… resident after 12 s at rest', 'MB', '≤ 90 MB'),
  ...(values.packed === undefined
    ? []
    : [
        row('packedAgain', 'boot to ready, installed', 'ms', '≤ 450 ms'),
        row('packedFirst', '… the first time', 'ms', ''),
        row('packedRss', '… resident after 12 s at rest', 'MB', '≤ 90 MB'),
      ]),
];

function row(...[figure, title, unit, target]: readonly [string, string, string, string]): Row {
  return { figure, title, unit, better: 'less', target };
}

const busy = () => (loadavg()[0] ?? 0).toFixed(1);
const busyBefore = busy();
const results = await measure(chosen, options);
const sections = Array.from(results.values());
if (isWanted('boot')) sections.push({ rows: bootRows, ...(await measureBoot(options)) });

const pinning = canPin ? 'server on core 0, load on core 1' : 'nothing pinned (no taskset)';
process.stdout.write(
  [
    '',
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${pinning};`,
    `${rounds} rounds, medians; load average ${busyBefore} before the start, ${busy()} at the end (ours is about 1.5)`,
    '',
    table(sections),
    '',
  ].join('\n'),
);
if (sections.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
