import type { Answer, HarnessEvent, Leg } from '../ports/harness.ts';

/** A leg whose framework is loaded when the first leg needs it, so that a server loads only the frameworks it uses. */
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

  async yield(): Promise<void> {
    await (await this.#leg).yield?.();
  }

  async kill(): Promise<void> {
    await (await this.#leg).kill();
  }

  async redact(text: string): Promise<string> {
    return (await (await this.#leg).redact?.(text)) ?? text;
  }
}
