import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/runtime/bounded-map.ts';

test('the entry that was set longest ago is evicted when one too many is set', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('c', 3);
  expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 2, 3, 2]);
});

test('setting a key again makes it the newest and evicts nothing', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect(map.size).toBe(2);
  map.set('c', 4);
  expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([true, false, true]);
});
