import type { Clock } from '../../ports/clock.ts';

/** Set when a leg shall end. One flag and at most one sleeper: cheaper per leg than combined abort signals. */
export class CancelFlag {
  #requested = false;
  #wake: (() => void) | undefined;

  get requested(): boolean {
    return this.#requested;
  }

  request(): void {
    this.#requested = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, or as soon as the flag is set. */
  async sleep(clock: Clock, ms: number): Promise<void> {
    if (this.#requested || ms === 0) return;
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
