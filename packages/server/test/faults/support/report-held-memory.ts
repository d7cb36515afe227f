// Loaded into a server before anything else: each SIGUSR2 collects the garbage and prints how much memory is held after
// it. The resident memory of a process says less: on a busy machine, garbage stays in it for as long as it likes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limits } from '@convoke/contract';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
let reports = 0;
process.on('SIGUSR2', () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  reports += 1;
  process.stdout.write(`held memory, report ${reports}: ${heapUsed + external} bytes\n`);
});

// A slow machine needs longer than this limit until all readers have stalled, and none may be closed before it is
// measured.
Object.assign(limits, { streamStallMs: 3_600_000 });
