import type { Clock } from '../ports/clock.ts';

/**
 * A longer time is waited for in steps of this one. Node keeps a list of timers for each duration until that has
 * passed, even after its last timer was cleared: with a duration of its own for each stream, there were as many lists
 * as streams within the lifetime of a token.
 */
const stepMs = 60_000;

export const systemClock: Clock = clockInSteps(stepMs);

/** A clock that waits for a longer time than `longestMs` in steps of it. */
export function clockInSteps(longestMs: number): Clock {
  return {
    now: () => Date.now(),
    after(ms, callback) {
      if (ms <= longestMs) {
        const timer = startTimer(ms, callback);
        return () => clearTimeout(timer);
      }
      const dueAt = performance.now() + ms;
      let timer = startTimer(longestMs, step);
      function step(): void {
        const leftMs = dueAt - performance.now();
        timer = leftMs > longestMs ? startTimer(longestMs, step) : startTimer(leftMs, callback);
      }
      return () => clearTimeout(timer);
    },
  };
}

function startTimer(ms: number, callback: () => void): NodeJS.Timeout {
  // Whole: one timer with a fraction changes how V8 stores all timers, and it compiles Node's code for sockets again.
  // Not negative: after a step that came late nothing is left, and Node prints a warning about a negative duration.
  return setTimeout(callback, Math.max(0, Math.ceil(ms))).unref();
}
