import type { Agent } from '../agent.ts';
import { matchesGlob } from '../rules/glob.ts';
import type { TokenCounts } from './usage.ts';

/** The prices of the deployment (D-131), from the operator's file. */
export interface Prices {
  /** ISO 4217. All costs of the deployment are in this currency. */
  readonly currency: string;
  /** Whether a model without a price may be used where a cost ceiling applies. */
  readonly unpriced: 'refuse' | 'allow';
  /** The first glob that matches a model decides. */
  readonly models: readonly ModelPrice[];
}

/** Millionths of the currency for a million tokens. */
export interface ModelPrice {
  readonly glob: string;
  readonly input: number;
  readonly output: number;
  /** Of input that was read from a cache; absent: the price of input. */
  readonly cachedInput?: number | undefined;
}

export const noPrices: Prices = { currency: 'USD', unpriced: 'refuse', models: [] };

const perMillion = 1_000_000n;
/** Far more than any report costs. Sums of such costs stay exact. */
const costMax = 10n ** 12n;

/**
 * Never negative. Undefined when the model has no price. Fractions of a millionth are rounded up, so that a ceiling is
 * never passed unseen.
 */
export function costOf(prices: Prices, model: string, used: TokenCounts): number | undefined {
  const price = prices.models.find(({ glob }) => matchesGlob(glob, model));
  if (price === undefined) return undefined;
  const input = BigInt(used.inputTokens);
  // A later report can name more tokens as cached than it adds: those were paid for, and are not paid back.
  const cached = least(BigInt(used.cachedInputTokens), input);
  const fresh = input - cached;
  const total =
    fresh * BigInt(price.input) +
    cached * BigInt(price.cachedInput ?? price.input) +
    BigInt(used.outputTokens) * BigInt(price.output);
  const micros = (total + perMillion - 1n) / perMillion;
  return Number(least(micros, costMax));
}

/** An amount in millionths of a currency. */
export interface Cost {
  readonly micros: number;
  readonly currency: string;
}

/** Prices the usage of a model; undefined without a model, or without a price. */
export function pricing(prices: Prices, model = ''): (used: TokenCounts) => Cost | undefined {
  return (used) => {
    const micros = costOf(prices, model, used);
    return micros === undefined ? undefined : { micros, currency: prices.currency };
  };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/**
 * Whether a ceiling of cost refuses the agent: nothing would tell what its runs cost. An agent without a model costs
 * nothing but what it reports.
 */
export function isRefused(
  prices: Prices,
  { model, reportsCost }: Pick<Agent, 'model' | 'reportsCost'>,
): boolean {
  if (prices.unpriced === 'allow' || reportsCost === true || model === undefined) return false;
  return !prices.models.some(({ glob }) => matchesGlob(glob, model));
}

/** Millionths for a million output tokens; undefined for a model without a price. */
export function outputPriceOf(prices: Prices, model: string): number | undefined {
  return prices.models.find(({ glob }) => matchesGlob(glob, model))?.output;
}
