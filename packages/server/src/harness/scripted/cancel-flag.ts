import type { Clock } from '../../ports/clock.ts';

/**
 * Set when a leg shall end. One flag and at most one sleeper: cheaper per leg than combined abort signals. It listens
 * to the signal from the first sleep on; a leg that never sleeps only looks at it.
 */
export class CancelFlag {
  readonly #signal: AbortSignal;
  #requested = false;
  #listens = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get requested(): boolean {
    return this.#requested || this.#signal.aborted;
  }

  request(): void {
    this.#requested = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, or as soon as the flag is set. */
  async sleep(clock: Clock, ms: number): Promise<void> {
    if (this.requested || ms === 0) return;
    if (!this.#listens)
      this.#signal.addEventListener('abort', () => this.request(), { once: true });
    this.#listens = true;
    await new Promise<void>((resolve) => {
      const clearTimer = clock.after(ms, resolve);
      this.#wake = () => {
        clearTimer();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
