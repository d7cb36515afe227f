// Loaded into a server before anything else: each SIGUSR2 collects the young objects and prints how many bytes of old
// ones there are; the first one collects them all. V8 does not optimize, so that what it does with code that runs
// seldom, or that has just started, does not depend on the time.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

for (const flag of ['--expose-gc', '--no-opt', '--no-maglev']) setFlagsFromString(flag);
const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
let reports = 0;
process.on('SIGUSR2', () => {
  if (reports === 0) collectGarbage();
  // What survives twice becomes old.
  collectGarbage({ type: 'minor' });
  collectGarbage({ type: 'minor' });
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  reports += 1;
  process.stdout.write(`old objects, report ${reports}: ${old?.space_used_size} bytes\n`);
});
