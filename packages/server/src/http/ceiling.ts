import type { Ceiling } from '../domain/usage/budget.ts';

/** The ceiling in the body of a request that starts a run. */
export function ceilingIn(
  budget:
    | { readonly max_tokens?: number | undefined; readonly max_cost?: number | undefined }
    | undefined,
): Ceiling | undefined {
  if (budget === undefined) return undefined;
  return { maxTokens: budget.max_tokens ?? null, maxCostMicros: budget.max_cost ?? null };
}
