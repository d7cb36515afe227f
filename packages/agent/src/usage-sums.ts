import type { UsageEmission } from './lines.ts';

/** Adds up what the leg has used of each model: the server takes sums. */
export class UsageSums {
  readonly #sums = new Map<string | undefined, UsageEmission>();

  add(used: UsageEmission): UsageEmission {
    const before = this.#sums.get(used.model);
    const sum = before === undefined ? used : added(before, used);
    this.#sums.set(used.model, sum);
    return sum;
  }
}

function added(a: UsageEmission, b: UsageEmission): UsageEmission {
  const cost =
    a.cost === undefined && b.cost === undefined ? undefined : (a.cost ?? 0) + (b.cost ?? 0);
  return {
    ...a,
    ...b,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    ...(cost !== undefined && { cost }),
  };
}
