import type { HarnessEvent } from '../ports/harness.ts';

/**
 * Connects a runtime that calls back with a leg that is iterated: pushed events wait, in order, until they are taken.
 * The queue itself has no bound: the code that reads from the runtime checks `size` and stops reading until the queue
 * is `drained`.
 */
export class EventQueue implements AsyncIterable<HarnessEvent> {
  #events: HarnessEvent[] = [];
  #isEnded = false;
  #isAbandoned = false;
  #failure: { readonly error: unknown } | undefined;
  #onPush: (() => void) | undefined;
  #onDrained: (() => void)[] = [];
  #isReaderBack = false;
  #onHandled: (() => void)[] = [];

  get size(): number {
    return this.#events.length;
  }

  /** True after an `end` or an error: later events are dropped. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(event: HarnessEvent): void {
    if (this.#isEnded) return;
    this.#isEnded = event.type === 'end';
    if (!this.#isAbandoned) this.#events.push(event);
    if (this.#isEnded) this.#releaseHandled();
    this.#onPush?.();
  }

  /** Ends the queue with an error, which its reader gets behind the events before it. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = { error };
    this.#releaseHandled();
    this.#onPush?.();
  }

  /** Resolves when every event was taken, or the reader has stopped iterating. */
  async drained(): Promise<void> {
    if (this.#events.length === 0) return;
    await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  /**
   * Resolves when the reader has handled every event, has stopped iterating, or an `end` was pushed. Await it before an
   * entry of the call ledger: then everything emitted before the entry is recorded before it (D-80).
   */
  async handled(): Promise<void> {
    const isHandled = this.#isReaderBack && this.#events.length === 0;
    if (this.#isEnded || this.#isAbandoned || isHandled) return;
    await new Promise<void>((resolve) => this.#onHandled.push(resolve));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (this.#events.length === 0) this.#release();
        if (event !== undefined) yield event;
        if (event?.type === 'end') return;
        if (this.#events.length > 0) continue;
        if (this.#failure !== undefined) throw this.#failure.error;
        this.#isReaderBack = true;
        this.#releaseHandled();
        await new Promise<void>((resolve) => (this.#onPush = resolve));
        this.#isReaderBack = false;
      }
    } finally {
      this.#isAbandoned = true;
      this.#events = [];
      this.#release();
      this.#releaseHandled();
    }
  }

  #releaseHandled(): void {
    for (const resolve of this.#onHandled.splice(0)) resolve();
  }

  #release(): void {
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }
}
