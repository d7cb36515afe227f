import type { Answer } from '../ports/harness.ts';

/** Requests of a live runtime that wait for a person's answer, by their `ref`. */
export class OpenRequests {
  readonly #resolvers = new Map<string, (answer: Answer | undefined) => void>();

  /** Resolves to the answer, or to `undefined` when `cancel` comes first. */
  waitFor(ref: string): Promise<Answer | undefined> {
    return new Promise((resolve) => this.#resolvers.set(ref, resolve));
  }

  /** Hands over an answer; false when no open request has this `ref`. */
  answer(ref: string, answer: Answer): boolean {
    const resolve = this.#resolvers.get(ref);
    this.#resolvers.delete(ref);
    resolve?.(answer);
    return resolve !== undefined;
  }

  /** Resolves every open request to `undefined`. */
  cancel(): void {
    for (const resolve of this.#resolvers.values()) resolve(undefined);
    this.#resolvers.clear();
  }
}
