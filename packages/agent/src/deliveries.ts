interface Delivery {
  readonly order: number;
  readonly go: () => void;
}

/**
 * Hands results to the program one at a time, each in a turn of the event loop of its own, the lowest order first. A replay
 * thus continues the branches of a program in the order in which they went on the first time, so that what they say
 * between steps comes in the same order.
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

  /** Calls back when nothing waits to be delivered, and the program had a turn since. */
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

/** For what the rest of a leg does not reach: a promise that never resolves is collected with all that waits for it. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
