import { expect, test } from 'vitest';
import { within } from '../../src/runtime/within.ts';
import { FakeClock } from '../support/clocks.ts';

test('work that ends in time returns its result', async () => {
  const clock = new FakeClock();
  const work = Promise.withResolvers<string>();
  const result = within({ clock, ms: 100, late: 'late' }, work.promise);
  work.resolve('done');
  expect(await result).toBe('done');
});

test('work that takes longer returns `late`', async () => {
  const clock = new FakeClock();
  const work = Promise.withResolvers<string>();
  const result = within({ clock, ms: 100, late: 'late' }, work.promise);
  clock.advance(100);
  expect(await result).toBe('late');
});

test('work that fails in time rejects', async () => {
  const work = Promise.reject<string>(new Error('broken'));
  await expect(within({ clock: new FakeClock(), ms: 100, late: 'late' }, work)).rejects.toThrow(
    'broken',
  );
});
