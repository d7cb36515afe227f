import { expect, test } from 'vitest';
import { firstRunId, gapsBetween, hoursOf, partitionAt } from '../../src/domain/event-partition.ts';
import { timeOfText, timeText } from '../../src/domain/id-time.ts';
import { createIds } from '../../src/runtime/ids.ts';

const now = Date.UTC(2026, 10, 15, 12);
const partition = { from: 100, until: 200 };

test('an id belongs to the partition of its creation time and to no other', () => {
  for (const at of [now, partitionAt(now).from, partitionAt(now).until - 1]) {
    const id = createIds({ now: () => at }).next('run');
    const { from, until } = partitionAt(at);
    expect(id >= firstRunId(from) && id < firstRunId(until)).toBe(true);
    expect(id < firstRunId(from - 1) || id >= firstRunId(until)).toBe(false);
    expect(timeOfText(timeText(at))).toBe(at);
  }
});

test('gaps are what no partition covers, up to the end asked for', () => {
  expect(gapsBetween([], 500)).toEqual([{ from: 0, until: 500 }]);
  expect(gapsBetween([{ from: 300, until: 400 }, partition], 500)).toEqual([
    { from: 0, until: 100 },
    { from: 200, until: 300 },
    { from: 400, until: 500 },
  ]);
  expect(gapsBetween([partition], 150)).toEqual([{ from: 0, until: 100 }]);
  expect(gapsBetween([{ from: 0, until: 1000 }], 500)).toEqual([]);
});

test('the hours of a partition are the partition', () => {
  const hours = hoursOf(partitionAt(now));
  expect(hours).toHaveLength(7 * 24);
  expect(hours[0]?.from).toBe(partitionAt(now).from);
  expect(hours.at(-1)?.until).toBe(partitionAt(now).until);
});
