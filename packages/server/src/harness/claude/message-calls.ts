import type { Clock } from '../../ports/clock.ts';
import { within } from '../../runtime/within.ts';

/** A message ends within moments of its start; after this time it counts as having several calls. */
const messageMs = 10_000;

interface Message {
  readonly calls: Set<string>;
  readonly results: Set<string>;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * Collects the tool calls of the model's current message. A call can be deferred only if it is the only one: of
 * several, the runtime would silently lose all but the last. The permission hook fires before the message is complete,
 * so `isOnlyCall` waits for its end.
 */
export class MessageCalls {
  readonly #clock: Clock;
  #current: Message | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    this.#current = { calls: new Set(), results: new Set(), ended: Promise.withResolvers<void>() };
  }

  add(id: string): void {
    this.#current?.calls.add(id);
  }

  /** A call has its result. */
  settle(id: string): void {
    if (this.#current?.calls.has(id) === true) this.#current.results.add(id);
  }

  /** Whether the model has begun to answer. */
  get hasBegun(): boolean {
    return this.#current !== undefined;
  }

  /** Whether Claude answers, and every call of its current message has its result. */
  get isIdle(): boolean {
    return this.#current !== undefined && this.#current.calls.size === this.#current.results.size;
  }

  end(): void {
    this.#current?.ended.resolve();
  }

  async isOnlyCall(id: string): Promise<boolean> {
    const message = this.#current;
    if (message === undefined) return false;
    const deadline = { clock: this.#clock, ms: messageMs, late: 'late' };
    const outcome = await within(deadline, message.ended.promise);
    return outcome !== 'late' && message.calls.size === 1 && message.calls.has(id);
  }
}
