/** The world outside the servers: how often each call was carried out, by its idempotency key. */
export class EffectLedger {
  readonly #counts = new Map<string, number>();

  carryOut(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}
