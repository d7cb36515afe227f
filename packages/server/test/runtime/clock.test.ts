import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clockInSteps } from '../../src/runtime/clock.ts';

const clock = clockInSteps(5);

test.each([0, 1, 5, 6, 23])(
  'a timer of %d ms calls back once and not before, in steps of 5 ms',
  async (ms) => {
    const before = performance.now();
    let calls = 0;
    const passed = await new Promise<number>((resolve) => {
      clock.after(ms, () => {
        calls += 1;
        resolve(performance.now() - before);
      });
    });
    // Node rounds the time at which a timer was set.
    expect(passed).toBeGreaterThan(ms - 2);
    await setTimeout(30);
    expect(calls).toBe(1);
  },
);

test.each([0, 3, 12])('one that is cancelled after %d ms does not call back', async (ms) => {
  let calls = 0;
  const cancel = clock.after(60, () => {
    calls += 1;
  });
  await setTimeout(ms);
  cancel();
  await setTimeout(80);
  expect(calls).toBe(0);
});
