/** A check that would take more work than its budget allows. */
export class CostlyCheck extends Error {
  override readonly name = 'CostlyCheck';
}

/**
 * Bounds the work of one check, counted in steps of about the same length, so that the same value always gets the same
 * answer: a schema that names itself in several branches takes 2ⁿ steps for a value of n levels (D-1010).
 */
export class CheckBudget {
  #left = 0;

  begin(steps: number): void {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new CostlyCheck();
  }
}
