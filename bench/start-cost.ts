/**
 * `node bench/start-cost.ts`: the processor time of a start on SQLite, by step. Each step is a request that does more
 * than the one before, a fixed number of times, so that the figures hold on a busy machine. Other checkouts are
 * measured in turn with this one: `node bench/start-cost.ts ../before`. TIMES and ROUNDS change how much is measured.
 */
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeFolder } from '../test/remove-folder.ts';
import { root } from '../test/repository.ts';
import { measureStartCost } from './start-steps.ts';

const folder = await mkdtemp(join(tmpdir(), 'convoke-start-cost-'));
const loadBefore = (loadavg()[0] ?? 0).toFixed(1);
const costs = await measureStartCost({
  folder,
  checkouts: [root, ...process.argv.slice(2)].map((path) => resolve(path)),
  times: Number(process.env['TIMES'] ?? 60),
  rounds: Number(process.env['ROUNDS'] ?? 7),
});
await removeFolder(folder);
console.log(`load average ${loadBefore} before the start; processor time of a request:`);
console.log('least µs | median µs | of the first | statements | step');
for (const { checkout, step, leastUs, medianUs, ratio, statements } of costs) {
  const figures = [leastUs, medianUs].map((us) => us.toFixed(0));
  figures.push(`${ratio.toFixed(2)}x`, statements.toFixed(1));
  console.log(`${figures.join(' | ')} | ${step}, ${checkout}`);
}
