/**
 * The refreshes that this process has under way: it finishes them before it ends, because a lost one ends the account.
 */
export class Refreshes {
  readonly #underWay = new Set<Promise<unknown>>();

  async during<Result>(refresh: Promise<Result>): Promise<Result> {
    this.#underWay.add(refresh);
    try {
      return await refresh;
    } finally {
      this.#underWay.delete(refresh);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
