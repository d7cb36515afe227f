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
