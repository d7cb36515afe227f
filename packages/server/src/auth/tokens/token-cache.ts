import type { Clock } from '../../ports/clock.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { VerifiedToken } from './verified-token.ts';

const keptMax = 10_000;

/**
 * Keeps verified tokens by their digest until they expire, because checking a signature takes 300 µs and a lookup one.
 * Holds the content of tokens only: access is decided on every request (D-51). Evicts the least recently used token.
 */
export class TokenCache {
  readonly #clock: Clock;
  readonly #tokens = new BoundedMap<string, VerifiedToken>(keptMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(digest: string): VerifiedToken | undefined {
    const token = this.#tokens.get(digest);
    if (token === undefined) return undefined;
    this.#tokens.delete(digest);
    if (token.expiresAt <= this.#clock.now()) return undefined;
    this.#tokens.set(digest, token);
    return token;
  }

  keep(digest: string, token: VerifiedToken): void {
    this.#tokens.set(digest, token);
  }
}
