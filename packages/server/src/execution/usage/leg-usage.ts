import type { Agent } from '../../domain/agent.ts';
import { plainName } from '../../domain/run/plain-text.ts';
import { type Prices, costOf } from '../../domain/usage/prices.ts';
import type { Cost, TokenCounts, UsageEntry } from '../../domain/usage/usage.ts';
import type { UsageReport } from '../../ports/harness.ts';

/** Models that one leg can name; reports of any more are counted for the agent's own model. */
const modelsMax = 64;
export const modelMaxCharacters = 200;
/** A program can report any number. Sums of numbers up to this one stay exact. */
const tokensMax = 1e12;

/**
 * Turns the reports of a leg into entries of the ledger. A report is the sum of the leg so far for its model, so that
 * a lost or repeated one does no harm; an entry is the difference to the report before (D-97, D-130).
 */
export class LegUsage {
  readonly #agent: Agent;
  readonly #prices: Prices;
  readonly #sums = new Map<string, Sum>();
  #seq = 0;

  constructor(agent: Agent, prices: Prices) {
    this.#agent = agent;
    this.#prices = prices;
  }

  /** Undefined when the report says nothing new. */
  entryOf(report: UsageReport): UsageEntry | undefined {
    const model = this.#modelOf(report);
    const before = this.#sums.get(model) ?? nothing;
    const sum = largerOf(before, sumIn(report, this.#prices.currency));
    this.#sums.set(model, sum);
    const inputTokens = sum.inputTokens - before.inputTokens;
    const outputTokens = sum.outputTokens - before.outputTokens;
    if (inputTokens + outputTokens + (sum.costMicros - before.costMicros) === 0) return undefined;
    this.#seq += 1;
    const counts = {
      inputTokens,
      outputTokens,
      cachedInputTokens: sum.cachedInputTokens - before.cachedInputTokens,
      reasoningTokens: sum.reasoningTokens - before.reasoningTokens,
    };
    const reported = sum.hasCost ? sum.costMicros - before.costMicros : undefined;
    const cost = this.#costOf(model, counts, reported);
    const isModelless = this.#agent.model === undefined && report.model === undefined;
    return { seq: this.#seq, model, ...counts, cost, ...(isModelless && { isModelless }) };
  }

  /** An agent that names its cost is taken at its word. */
  #costOf(model: string, counts: TokenCounts, reported: number | undefined): Cost | null {
    const { currency } = this.#prices;
    if (reported !== undefined) return { micros: reported, currency, source: 'reported' };
    const micros = costOf(this.#prices, model, counts);
    return micros === undefined ? null : { micros, currency, source: 'priced' };
  }

  #modelOf({ model }: UsageReport): string {
    const own = this.#agent.model ?? this.#agent.framework;
    const named = model === undefined ? own : plainName(model, modelMaxCharacters);
    if (named === '') return own;
    return this.#sums.has(named) || this.#sums.size < modelsMax ? named : own;
  }
}

interface Sum extends TokenCounts {
  /** Of the reports that name one in the currency of the deployment. */
  readonly costMicros: number;
  readonly hasCost: boolean;
}

const nothing: Sum = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  costMicros: 0,
  hasCost: false,
};

function sumIn(report: UsageReport, currency: string): Sum {
  const hasCost = report.cost?.currency === currency;
  const inputTokens = bounded(report.inputTokens);
  const outputTokens = bounded(report.outputTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: Math.min(bounded(report.cachedInputTokens ?? 0), inputTokens),
    reasoningTokens: Math.min(bounded(report.reasoningTokens ?? 0), outputTokens),
    costMicros: hasCost ? bounded(report.cost?.micros ?? 0) : 0,
    hasCost,
  };
}

/** Sums only rise: an agent cannot take back what it reported. */
function largerOf(before: Sum, now: Sum): Sum {
  return {
    inputTokens: Math.max(before.inputTokens, now.inputTokens),
    outputTokens: Math.max(before.outputTokens, now.outputTokens),
    cachedInputTokens: Math.max(before.cachedInputTokens, now.cachedInputTokens),
    reasoningTokens: Math.max(before.reasoningTokens, now.reasoningTokens),
    costMicros: Math.max(before.costMicros, now.costMicros),
    hasCost: now.hasCost,
  };
}

function bounded(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(Math.trunc(tokens), 0), tokensMax) : 0;
}
