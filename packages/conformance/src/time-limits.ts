import { Failure } from './failure.ts';
import type { RateWaits } from './rate-waits.ts';

const checkMs = 120_000;

/** How long the kit and each check may take, without the time that the service made the kit wait with 429 (D-488). */
export class TimeLimits {
  readonly #waits: RateWaits;
  readonly #endsAt: number;

  constructor(waits: RateWaits, limitMs: number) {
    this.#waits = waits;
    this.#endsAt = performance.now() + limitMs;
  }

  /** No further check is begun. */
  get isOver(): boolean {
    return performance.now() - this.#waits.totalMs > this.#endsAt;
  }

  /** Fails when one check takes too long. */
  async within(work: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let countedMs = this.#waits.totalMs;
    const late = new Promise<never>((_, reject) => {
      const arm = (ms: number) => {
        timer = setTimeout(() => {
          const moreMs = this.#waits.totalMs - countedMs;
          countedMs += moreMs;
          if (moreMs > 0) arm(moreMs);
          else reject(new Failure(`the check did not end within ${checkMs / 1000} s`));
        }, ms);
      };
      arm(checkMs);
    });
    try {
      await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
