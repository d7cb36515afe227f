import { z } from 'zod';

const microsPerUnit = 1_000_000;
const microsMax = Number.MAX_SAFE_INTEGER;

export const knownCost = z.strictObject({ micros: z.int().min(0), currency: z.string() });
/** The cost of the agent's session since its beginning, as the agent reports it. */
export type KnownCost = z.infer<typeof knownCost>;

/** An agent may also count in units of its own, such as credits: those are no cost. */
const reportedCost = z.object({
  amount: z.number().min(0),
  currency: z.string().regex(/^[A-Z]{3}$/),
});

/**
 * Turns the cost that an agent reports for its whole session into that of one leg: what was added since the previous
 * leg (D-131). An agent that reports less than before counts from zero again, as one does after its restart.
 */
export class SessionCost {
  #before: KnownCost | undefined;
  #now: KnownCost | undefined;

  constructor(before: KnownCost | undefined) {
    this.#before = before;
    this.#now = before;
  }

  /** Returns whether the report changes the cost. */
  take(report: unknown): boolean {
    const { data } = reportedCost.safeParse(report);
    if (data === undefined) return false;
    const { amount, currency } = data;
    const micros = Math.min(Math.round(amount * microsPerUnit), microsMax);
    if (micros === this.#now?.micros && currency === this.#now.currency) return false;
    const isContinued = this.#before?.currency === currency && micros >= this.#before.micros;
    if (!isContinued) this.#before = undefined;
    this.#now = { micros, currency };
    return true;
  }

  /** Of the session; kept for its next leg. */
  get total(): KnownCost | undefined {
    return this.#now;
  }

  /** Undefined while the agent has reported nothing new in this leg. */
  get ofLeg(): KnownCost | undefined {
    const now = this.#now;
    if (now === undefined || now === this.#before) return undefined;
    return { ...now, micros: now.micros - (this.#before?.micros ?? 0) };
  }
}
