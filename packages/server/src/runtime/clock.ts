import type { Clock } from '../ports/clock.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    // Whole: one timer with a fraction changes how V8 stores all timers, and it compiles Node's code for sockets again.
    const timer = setTimeout(callback, Math.ceil(ms));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
