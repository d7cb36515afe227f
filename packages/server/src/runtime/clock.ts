import type { Clock } from '../ports/clock.ts';

/**
 * A longer time is waited for in steps of this one. Node keeps a list of timers for each duration until that has
 * passed, even after its last timer was cleared: with a duration of its own for each stream, there were as many lists
 * as streams within the lifetime of a token.
 */
const stepMs = 60_000;

export const systemClock: Clock = clockInSteps(stepMs);

/** A longer wait. It has a timer of its own for its last step only: thousands wait at a time. */
interface LongWait {
  /** Of the monotonic clock. */
  readonly dueAt: number;
  readonly callback: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** A clock that waits for a longer time than `longestMs` in steps of it. */
export function clockInSteps(longestMs: number): Clock {
  const waits = new Set<LongWait>();
  let stepping: NodeJS.Timeout | undefined;
  function step(): void {
    const now = performance.now();
    for (const wait of waits) {
      if (wait.dueAt - now > longestMs) continue;
      waits.delete(wait);
      wait.timer = startTimer(wait.dueAt - now, wait.callback);
    }
    stepping = waits.size > 0 ? startTimer(longestMs, step) : undefined;
  }
  return {
    now: () => Date.now(),
    after(ms, callback) {
      if (ms <= longestMs) {
        const timer = startTimer(ms, callback);
        return () => clearTimeout(timer);
      }
      return waitLong({ dueAt: Math.ceil(performance.now() + ms), callback, timer: undefined });
    },
  };

  function waitLong(wait: LongWait): () => void {
    waits.add(wait);
    stepping ??= startTimer(longestMs, step);
    return () => {
      waits.delete(wait);
      clearTimeout(wait.timer);
    };
  }
}

function startTimer(ms: number, callback: () => void): NodeJS.Timeout {
  // Whole: one timer with a fraction changes how V8 stores all timers, and it compiles Node's code for sockets again.
  return setTimeout(callback, Math.ceil(ms)).unref();
}
