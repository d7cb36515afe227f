import type { Clock } from '../ports/clock.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import type { VerifiedToken } from './tokens.ts';

const keptMax = 10_000;

/**
 * Tokens whose signature was checked, by their digest, until they expire: a signature costs 300 µs, a
 * lookup one. Only what the token itself says is kept; what it may do is decided anew each time (D-51).
 * The least recently used one makes room.
 */
export class VerifiedTokens {
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
