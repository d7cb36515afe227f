import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortInTurns } from '../../src/confined-fs/sort-in-turns.ts';

test('many names are sorted as `sort` does, while other work runs', async () => {
  const names = fc.sample(fc.string({ maxLength: 12, unit: 'binary' }), {
    numRuns: 23_456,
    seed: 1,
  });
  let turns = 0;
  let isSorting = true;
  const count = () => {
    turns += 1;
    if (isSorting) setImmediate(count);
  };
  setImmediate(count);
  const sorted = await sortInTurns(names);
  isSorting = false;
  expect(sorted).toEqual(names.toSorted());
  expect(turns).toBeGreaterThan(5);
});

test.each([0, 1, 5_000, 5_001])('%i names', async (length) => {
  const names = Array.from({ length }, (_, index) => `${(index * 7919) % 10_007}`);
  expect(await sortInTurns(names)).toEqual(names.toSorted());
});
