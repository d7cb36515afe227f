import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Rest } from '../../src/runtime/memory-release.ts';

const source = new URL('../../src/runtime/memory-release.ts', import.meta.url).href;

/** Holds a hundred megabytes, lets go of them, and then only waits; ends well when the system has half of them back. */
const program = `
  import { releaseMemoryAtRest } from '${source}';
  let held = Array.from({ length: 400_000 }, (_, at) => ({ at, text: 'x'.repeat(at % 50) + at }));
  const heldBytes = process.memoryUsage.rss();
  const freeBytes = heldBytes - process.memoryUsage().heapUsed;
  held = undefined;
  releaseMemoryAtRest(100);
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

const quiet = { busyShare: 0.01, busyMs: 60_000 };

test('a server that has worked is at rest after a minute without work, not in a pause between requests', () => {
  const rest = new Rest();
  const looks = Array.from({ length: 12 }, () => rest.isLongEnough(quiet));
  expect(looks).toEqual([...Array.from({ length: 11 }, () => false), true]);
});

test('work begins the minute again, and so does a collection', () => {
  const rest = new Rest();
  for (let look = 0; look < 11; look += 1) rest.isLongEnough(quiet);
  expect(rest.isLongEnough({ ...quiet, busyShare: 0.2 })).toBe(false);
  for (let look = 0; look < 11; look += 1) expect(rest.isLongEnough(quiet)).toBe(false);
  expect(rest.isLongEnough(quiet)).toBe(true);
  rest.beginAgain();
  expect(rest.isLongEnough(quiet)).toBe(false);
});

test('a server that has only started is at rest at once', () => {
  expect(new Rest().isLongEnough({ busyShare: 0, busyMs: 600 })).toBe(true);
});
