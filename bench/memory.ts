/**
 * What a server holds at rest, after minutes of load, and at rest again: `node bench/memory.ts [path of a
 * bin/convoke.mjs] [minutes]`. Without a path it is this checkout, without minutes it is ten.
 */
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { removeFolder } from '../test/remove-folder.ts';
import { startConvoke } from './peers/convoke.ts';
import { processorOf, residentOf, stop } from './peers/peer.ts';
import { sideBySide } from './workload.ts';

const program = process.argv.find((word) => word.endsWith('.mjs'));
const minutes = Number(process.argv.slice(2).find((word) => /^[\d.]+$/.test(word)) ?? 10);
const callers = 32;
const talk = { deltas: 50, waitMs: 0 };
/** Seconds after which the server is looked at; it returns memory when it was at rest for a minute. */
const looks = [1, 15, 30, 60, 75];

const folder = await mkdtemp(join(tmpdir(), 'convoke-memory-'));
const installed = program === undefined ? {} : { program: resolve(program) };
const server = await startConvoke({ ...installed, folder, talks: [talk], callers });
try {
  console.log(`${server.name}: ${program ?? 'this checkout'}`);
  await look('started');
  let runs = 0;
  await sideBySide({ clients: callers, ms: minutes * 60_000 }, async (caller) => {
    await server.talk(caller, talk);
    runs += 1;
  });
  const processor = Math.round(processorOf(server) / 1000);
  const load = `${minutes} minutes, ${runs} runs of ${talk.deltas} words, ${processor} s of processor`;
  console.log(`load: ${load}, load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
  console.log(`under load: ${residentOf(server).toFixed(0)} MB`);
  await look('loaded');
} finally {
  await stop(server);
  await removeFolder(folder);
}

async function look(since: string): Promise<void> {
  let passed = 0;
  for (const seconds of looks) {
    await setTimeout((seconds - passed) * 1000);
    passed = seconds;
    console.log(`${seconds} s after it was ${since}: ${residentOf(server).toFixed(0)} MB`);
  }
}
