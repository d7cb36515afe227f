import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ReleasingMap } from '../../src/runtime/releasing-map.ts';

test('a releasing map keeps the entries that were set, in their order', () => {
  const map = new ReleasingMap<string, number>();
  map.set('a', 1);
  map.set('b', 2);
  map.set('c', 3);
  expect([map.size, map.get('b'), map.has('b'), map.has('d')]).toEqual([3, 2, true, false]);
  expect([map.delete('b'), map.delete('b')]).toEqual([true, false]);
  expect([map.size, map.get('b'), map.has('b')]).toEqual([2, undefined, false]);
  expect(Array.from(map.entries())).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
  expect([Array.from(map.keys()), Array.from(map.values())]).toEqual([
    ['a', 'c'],
    [1, 3],
  ]);
});

test('an entry that is set again has the new value, and is the newest', () => {
  const map = new ReleasingMap<string, number>();
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect(Array.from(map.entries())).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
});

test('entries may be removed while they are read', () => {
  const map = new ReleasingMap<number, string>();
  for (let key = 0; key < 100; key += 1) map.set(key, `value ${key}`);
  const seen: number[] = [];
  for (const [key] of map.entries()) {
    seen.push(key);
    map.delete(key);
    map.delete(key + 1);
  }
  expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index * 2));
  expect(map.size).toBe(0);
});

const source = new URL('../../src/runtime/releasing-map.ts', import.meta.url).href;
const run = promisify(execFile);

/**
 * Has entries of a kilobyte come and go in a map that is old, ten at a time, and prints the share of their bytes that
 * became old with it.
 */
const program = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { ReleasingMap } from '${source}';
  const map = new ReleasingMap();
  for (let key = 0; key < 100; key += 1) map.set(key, { key });
  gc();
  gc();
  for (let key = 0; key < 100; key += 1) map.delete(key);
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size;
  const before = oldBytes();
  for (let key = 0; key < 20_000; key += 1) {
    map.set(key, { values: Array.from({ length: 128 }, () => key) });
    map.delete(key - 10);
  }
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  console.log((oldBytes() - before) / (20_000 * 1024));
`;

test('what was removed is collected with the young objects', async () => {
  const flags = ['--expose-gc', '--no-allocation-site-pretenuring', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...flags, '-e', program]);
  // A tenth of it, the entries of the moment of each collection. In a `Map` more than half became old.
  expect(Number(stdout)).toBeLessThan(0.3);
});
