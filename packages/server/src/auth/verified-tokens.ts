import type { Clock } from '../ports/clock.ts';
import type { VerifiedToken } from './tokens.ts';

/**
 * Tokens whose signature was checked, by their digest, until they expire: a signature costs 300 µs, a
 * lookup one. Only what the token itself says is kept; what it may do is decided anew each time (D-51).
 * The least recently used one makes room.
 */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #tokens = new Map<string, VerifiedToken>();

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
    if (this.#tokens.size >= MAX_KEPT) {
      const [oldest] = this.#tokens.keys();
      if (oldest !== undefined) this.#tokens.delete(oldest);
    }
    this.#tokens.set(digest, token);
  }
}

const MAX_KEPT = 10_000;
