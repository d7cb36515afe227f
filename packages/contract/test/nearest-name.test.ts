import { expect, test } from 'vitest';
import { nearestName } from '../src/nearest-name.ts';

const known = ['PORT', 'HOST', 'PRICES', 'DATA_DIR', 'DATABASE_URL', 'shell-hello', 'demo', 'echo'];

test.each([
  ['PROT', 'PORT'],
  ['datadir', 'DATA_DIR'],
  ['price', 'PRICES'],
  ['dmeo', 'demo'],
  ['shell_helo', 'shell-hello'],
])('%s was meant as %s', (typed, meant) => {
  expect(nearestName(typed, known)).toBe(meant);
});

test.each(['', 'x', 'payments', 'prune', 'demand', 'a'.repeat(100_000)])(
  'nothing is near the word %$',
  (typed) => {
    expect(nearestName(typed, known)).toBeUndefined();
  },
);
