/** `node bench/peers/run.ts [--quick]`: Convoke beside the servers of others, one after the other in the same run. */
import { spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { canPin, loadCore } from '../cores.ts';
import { median } from '../statistics.ts';
import { sideBySide } from '../workload.ts';
import { removeFolder } from '../../test/remove-folder.ts';
import { startA2a } from './a2a.ts';
import { startConvoke } from './convoke.ts';
import { type Peer, type Talk, processorOf, residentOf, stop, untilAtRest } from './peer.ts';
import { startRestate } from './restate.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ms = values.quick ? 3000 : 10_000;
const callers = 32;
const readers = 500;
const talk: Talk = { deltas: 50, waitMs: 0 };
/** All readers must be there before the run speaks. */
const said: Talk = { deltas: 50, waitMs: 10_000 };
/** Longer than Convoke has to be at rest before it returns memory. */
const restMs = 12_000;

const titles = [
  'idle, resident',
  'run starts, 32 connections',
  '… processor time of the servers per run, executed',
  'run of 50 deltas, 1 reader, p50',
  'run of 50 deltas, 32 readers of a run each, p50',
  'deltas to 500 readers of one run',
  'resident 12 s after the load',
];

const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;
if (canPin) spawnSync('taskset', ['-acp', String(loadCore), String(process.pid)]);
const busyBefore = loadavg()[0] ?? 0;
const folder = await mkdtemp(join(tmpdir(), 'convoke-peers-'));
const columns = new Map<string, readonly string[]>();
const starters = [
  () => startConvoke({ folder: join(folder, 'convoke'), talks: [talk, said], callers }),
  () => startA2a(),
  () => startRestate(join(folder, 'restate')),
];
for (const start of starters) {
  const peer = await start();
  process.stderr.write(`… ${peer.name}\n`);
  try {
    columns.set(peer.name, await figuresOf(peer));
  } finally {
    await stop(peer);
  }
}
await removeFolder(folder);
print();

/** In the order of `titles`. */
async function figuresOf(peer: Peer): Promise<readonly string[]> {
  await setTimeout(restMs);
  const idle = residentOf(peer);
  return [
    `${idle.toFixed(0)} MB`,
    ...(await orReason(() => starts(peer), 2)),
    ...(await orReason(() => talks(peer, 1), 1)),
    ...(await orReason(() => talks(peer, callers), 1)),
    ...(await orReason(() => fanOut(peer), 1)),
    ...(await orReason(() => afterwards(peer), 1)),
  ];
}

async function starts(peer: Peer): Promise<readonly string[]> {
  await peer.start(0);
  const before = processorOf(peer);
  let count = 0;
  const from = performance.now();
  await sideBySide({ clients: callers, ms }, async (caller) => {
    await peer.start(caller);
    count += 1;
  });
  const seconds = (performance.now() - from) / 1000;
  await untilAtRest(peer);
  const used = (processorOf(peer) - before) / count;
  return [`${Math.round(count / seconds).toLocaleString('en')}/s`, `${used.toFixed(2)} ms`];
}

async function talks(peer: Peer, clients: number): Promise<readonly string[]> {
  await peer.talk(0, talk);
  const times: number[] = [];
  await sideBySide({ clients, ms }, async (caller) => {
    const from = performance.now();
    await peer.talk(caller, talk);
    times.push(performance.now() - from);
  });
  return [`${median(times).toFixed(1)} ms`];
}

/** From the end of the wait, which begins with the start of the run. */
async function fanOut(peer: Peer): Promise<readonly string[]> {
  const from = performance.now();
  const seconds = ((await peer.fanOut(readers, said)) - from - said.waitMs) / 1000;
  return [`${Math.round((readers * said.deltas) / seconds).toLocaleString('en')}/s`];
}

async function afterwards(peer: Peer): Promise<readonly string[]> {
  await untilAtRest(peer);
  await setTimeout(restMs);
  return [`${residentOf(peer).toFixed(0)} MB`];
}

/** A dash where a peer fails, and why on stderr. */
async function orReason(
  measure: () => Promise<readonly string[]>,
  rows: number,
): Promise<readonly string[]> {
  try {
    return await measure();
  } catch (error) {
    process.stderr.write(`  ${error instanceof Error ? error.message : String(error)}\n`);
    return Array.from({ length: rows }, () => '–');
  }
}

function print(): void {
  const names = [...columns.keys()];
  const lines = titles.map(
    (title, at) => `| ${title} | ${names.map((name) => columns.get(name)?.[at]).join(' | ')} |`,
  );
  process.stdout.write(
    [
      '',
      `Node ${process.version}, ${machine}; ` +
        `load average ${busyBefore.toFixed(1)} before the start, ${(loadavg()[0] ?? 0).toFixed(1)} at the end`,
      '',
      `| | ${names.join(' | ')} |`,
      `|---|${names.map(() => '---|').join('')}`,
      ...lines,
      '',
    ].join('\n'),
  );
}
