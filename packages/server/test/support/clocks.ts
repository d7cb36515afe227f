import type { Clock } from '../../src/ports/clock.ts';

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves the time and calls back, in order, whatever was due meanwhile. */
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
