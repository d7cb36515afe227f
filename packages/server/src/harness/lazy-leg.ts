import type { Answer, HarnessEvent, Leg } from '../ports/harness.ts';

/** A leg whose framework is loaded by the first that needs it: a server pays for the agents it runs, and only then. */
export class LazyLeg implements Leg {
  readonly #leg: Promise<Leg>;

  constructor(leg: Promise<Leg>) {
    this.#leg = leg;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    yield* await this.#leg;
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    return (await this.#leg).answer(ref, answer);
  }

  async cancel(): Promise<void> {
    await (await this.#leg).cancel();
  }

  async kill(): Promise<void> {
    await (await this.#leg).kill();
  }
}
