import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';

const second = 1000;
const day = 24 * 3600 * second;

describe('timers of the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([1, 59.5 * second, 60 * second, 61 * second, 3600 * second + 7, 40 * day])(
    'one of %d ms calls back once, then and not before',
    (ms) => {
      const callback = vi.fn<() => void>();
      systemClock.after(ms, callback);
      vi.advanceTimersByTime(Math.max(ms - 1, 0));
      expect(callback).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(callback).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(2 * day);
      expect(callback).toHaveBeenCalledOnce();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test.each([0, 30 * second, 61 * second, 200 * second])(
    'one that is cancelled after %d ms does not call back, and leaves no timer',
    (ms) => {
      const callback = vi.fn<() => void>();
      const cancel = systemClock.after(300 * second, callback);
      vi.advanceTimersByTime(ms);
      cancel();
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(300 * second);
      expect(callback).not.toHaveBeenCalled();
    },
  );

  test('long ones share one duration, for which Node keeps one list', () => {
    const durations = vi.spyOn(globalThis, 'setTimeout');
    for (let extra = 0; extra < 100; extra += 1) systemClock.after(900 * second + extra, () => {});
    expect(new Set(durations.mock.calls.map(([, ms]) => ms))).toEqual(new Set([60 * second]));
  });
});
