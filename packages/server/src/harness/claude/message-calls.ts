import type { Clock } from '../../ports/clock.ts';
import { within } from '../../runtime/within.ts';

/** A message that has begun ends within moments: after this its calls are taken for several. */
const messageMs = 10_000;

interface Watched {
  readonly calls: Set<string>;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * How many tools one message of the model calls. A call can be put off only when it is the only one: of several, the
 * runtime would silently lose all but the last. Leave is asked for before the message is complete, hence the wait.
 */
export class TurnWatch {
  readonly #clock: Clock;
  #current: Watched | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#current = { calls: new Set(), ended: Promise.withResolvers<void>() };
  }

  call(id: string): void {
    this.#current?.calls.add(id);
  }

  end(): void {
    this.#current?.ended.resolve();
  }

  async isOnlyCall(id: string): Promise<boolean> {
    const watched = this.#current;
    if (watched === undefined) return false;
    const deadline = { clock: this.#clock, ms: messageMs, late: 'late' };
    const outcome = await within(deadline, watched.ended.promise);
    return outcome !== 'late' && watched.calls.size === 1 && watched.calls.has(id);
  }
}
