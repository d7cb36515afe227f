import { expect, test } from 'vitest';
import { seatLine } from '../src/commands/application/agents/seat-counter.ts';

test.each([
  [1, 0, 'try 1 of 45'],
  [3, 2_000, 'try 3 of 45'],
  [4, 3_000, 'try 4 of 45, 42 s left'],
  [11, 50_000, 'try 11 of 45, 3 min left'],
  [45, 440_000, 'try 45 of 45, 10 s left'],
])('a person reads how long the other seats take: at seat %d after %d ms', (seat, ms, line) => {
  expect(seatLine({ seat, seats: 45 }, ms)).toBe(line);
});
