import { expect, test } from 'vitest';
import { killPointLine } from '../src/commands/application/agents/kill-point-counter.ts';

test.each([
  [1, 0, 'try 1 of 45'],
  [3, 2_000, 'try 3 of 45'],
  [4, 3_000, 'try 4 of 45, 42 s left'],
  [11, 50_000, 'try 11 of 45, 3 min left'],
  [45, 440_000, 'try 45 of 45, 10 s left'],
])(
  'a person reads how long the other kill points take: at kill point %d after %d ms',
  (killPoint, ms, line) => {
    expect(killPointLine({ killPoint, killPoints: 45 }, ms)).toBe(line);
  },
);
