import type { HarnessEvent } from '../../ports/harness.ts';

const eventsHeldMax = 1024;

/**
 * A turn that was interrupted to be handed over, until its result. What Claude emits in the meantime is held: words
 * that are not in a complete message are not in its session either, so they are not part of the answer.
 */
export class Interruption {
  /** Whether Claude waited for a person. */
  readonly wasAsking: boolean;
  #held: HarnessEvent[] = [];

  constructor(wasAsking: boolean) {
    this.wasAsking = wasAsking;
  }

  /** False when Claude works on as if nothing had happened. */
  hold(events: readonly HarnessEvent[]): boolean {
    this.#held.push(...events);
    return this.#held.length <= eventsHeldMax;
  }

  takeAll(): readonly HarnessEvent[] {
    return this.#held.splice(0);
  }

  /** Everything but words. */
  takeUnsaid(): readonly HarnessEvent[] {
    return this.takeAll().filter(({ type }) => type !== 'message_delta');
  }
}
