interface Delivery {
  readonly order: number;
  readonly go: () => void;
}

/**
 * Hands results to the agent function one at a time, each in its own turn of the event loop, the lowest order first
 * (L5). So a replay continues the branches of the function in the same order as the first time, and the text that they
 * emit between steps is in the same order.
 */
export class Deliveries {
  #waiting: Delivery[] = [];
  #isScheduled = false;
  #onQuiet: (() => void)[] = [];

  add(order: number, go: () => void): void {
    const at = this.#waiting.findLastIndex((each) => each.order <= order);
    this.#waiting.splice(at + 1, 0, { order, go });
    this.#schedule();
  }

  /** Calls back when no delivery is pending and the function had a turn since the last one. */
  whenQuiet(callback: () => void): void {
    this.#onQuiet.push(callback);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    const next = this.#waiting.shift();
    if (next === undefined) {
      for (const callback of this.#onQuiet.splice(0)) callback();
      return;
    }
    next.go();
    if (this.#waiting.length > 0 || this.#onQuiet.length > 0) this.#schedule();
  }
}

/** A promise that never settles. It is garbage-collected together with everything awaiting it. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
