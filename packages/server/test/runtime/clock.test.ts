import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clockInSteps } from '../../src/runtime/clock.ts';

const clock = clockInSteps(5);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1, 5, 6, 23])(
  'a timer of %d ms calls back once and not before, in steps of 5 ms',
  (ms) => {
    const callback = vi.fn<() => void>();
    clock.after(ms, callback);
    vi.advanceTimersByTime(ms - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(callback).toHaveBeenCalledTimes(1);
  },
);

test.each([0, 3, 12])('one that is cancelled after %d ms does not call back', (ms) => {
  const callback = vi.fn<() => void>();
  const cancel = clock.after(60, callback);
  vi.advanceTimersByTime(ms);
  cancel();
  vi.advanceTimersByTime(100);
  expect(callback).not.toHaveBeenCalled();
});

test('a step that comes after the end of its timer starts no timer of a negative duration', () => {
  const callback = vi.fn<() => void>();
  const started = vi.spyOn(globalThis, 'setTimeout');
  clock.after(10, callback);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 14);
  vi.advanceTimersByTime(6);
  expect(started.mock.calls.map(([, ms]) => ms)).toEqual([5, 0]);
  expect(callback).toHaveBeenCalledTimes(1);
  vi.restoreAllMocks();
});
