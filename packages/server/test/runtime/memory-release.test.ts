import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const source = new URL('../../src/runtime/memory-release.ts', import.meta.url).href;

/** Holds a hundred megabytes, lets go of them, and then only waits; ends well when the system has half of them back. */
const program = `
  import { releaseMemoryAtRest } from '${source}';
  let held = Array.from({ length: 400_000 }, (_, at) => ({ at, text: 'x'.repeat(at % 50) + at }));
  const heldBytes = process.memoryUsage.rss();
  const freeBytes = heldBytes - process.memoryUsage().heapUsed;
  held = undefined;
  releaseMemoryAtRest(20);
  const wanted = freeBytes + (heldBytes - freeBytes) / 2;
  setInterval(() => {
    if (process.memoryUsage.rss() < wanted) process.exit(0);
  }, 20);
`;

test('a process at rest returns the memory that it no longer uses', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
