/**
 * Tokens of one report, or of many. `inputTokens` includes those read from a cache, `outputTokens` those of reasoning.
 */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

/** The usage of a run so far. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In millionths of the currency; null while nothing has a price. */
  readonly costMicros: number | null;
  /** Null exactly when there is no cost. */
  readonly currency: string | null;
}

/** `reported`: the agent's program named the cost. `priced`: computed from the operator's prices (D-131). */
export type CostSource = 'priced' | 'reported';

export interface Cost {
  readonly micros: number;
  readonly currency: string;
  readonly source: CostSource;
}

/** One row of the ledger: what a leg used of one model since its report before (D-130). */
export interface UsageEntry extends TokenCounts {
  /** From 1 in each leg. */
  readonly seq: number;
  readonly model: string;
  readonly cost: Cost | null;
  /** Neither the agent nor its report names a model: without a cost it costs nothing. */
  readonly isModelless?: boolean;
}

/** Adds entries to the usage of a run. Null as long as nothing was reported. */
export function addUsage(
  known: TokenUsage | null,
  entries: readonly UsageEntry[],
): TokenUsage | null {
  return entries.reduce<TokenUsage | null>(
    (sum, { inputTokens, outputTokens, cost }) => ({
      inputTokens: (sum?.inputTokens ?? 0) + inputTokens,
      outputTokens: (sum?.outputTokens ?? 0) + outputTokens,
      costMicros: addCost(sum?.costMicros ?? null, cost),
      currency: cost?.currency ?? sum?.currency ?? null,
    }),
    known,
  );
}

function addCost(known: number | null, cost: Cost | null): number | null {
  return cost === null ? known : (known ?? 0) + cost.micros;
}
