import type { Clock } from '../../src/ports/clock.ts';

/** A clock that stops until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** How many timers wait for their time. */
  get timers(): number {
    return this.#timers.size;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves the time and calls, in order, every timer that became due. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (let next = this.#nextBefore(until); next; next = this.#nextBefore(until)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
  }

  #nextBefore(until: number): { at: number; callback: () => void } | undefined {
    const due = [...this.#timers].filter((timer) => timer.at <= until);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/**
 * A real clock that a test can move ahead: running work continues, and a test need not wait for hours.
 * A timer is due when the sum of passed and added time reaches it.
 */
export class MovingClock implements Clock {
  #ahead = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return Date.now() + this.#ahead;
  }

  after(ms: number, callback: () => void): () => void {
    const timer: Timer = { at: this.now() + ms, callback, handle: undefined };
    this.#timers.add(timer);
    this.#wind(timer);
    return () => this.#forget(timer);
  }

  /** Moves the time and calls, in order, every timer that is due now. */
  advance(ms: number): void {
    this.#ahead += ms;
    const due = [...this.#timers].filter((timer) => timer.at <= this.now());
    due.sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (!this.#timers.has(timer)) continue;
      this.#forget(timer);
      timer.callback();
    }
    for (const timer of this.#timers) this.#wind(timer);
  }

  #wind(timer: Timer): void {
    clearTimeout(timer.handle);
    timer.handle = setTimeout(
      () => {
        this.#timers.delete(timer);
        timer.callback();
      },
      Math.max(0, timer.at - this.now()),
    ).unref();
  }

  #forget(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
  }
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
  handle: NodeJS.Timeout | undefined;
}
