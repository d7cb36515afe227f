import type { RunId } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import { type Ceiling, type Spending, isReached } from '../../domain/usage/budget.ts';
import { outputPriceOf } from '../../domain/usage/prices.ts';
import type { Allowance } from '../../domain/usage/model-request.ts';

/**
 * What a run may still use, from its own ceiling and from the budgets that apply to it. A harness asks before each
 * request to a model (D-133).
 */
export async function readAllowance(
  { store, clock, prices }: Pick<Services, 'store' | 'clock' | 'prices'>,
  runId: RunId,
  model: string | undefined,
): Promise<Allowance> {
  const { ceilings, budgets } = await store.read.budgets.ofRun(runId, clock.now());
  const limits = [
    ...ceilings,
    ...budgets.map(({ budget, spent: used }) => ({ ceiling: budget.ceiling, spent: used })),
  ];
  if (limits.some((limit) => isReached(limit.ceiling, limit.spent))) return { isExhausted: true };
  const price = model === undefined ? undefined : outputPriceOf(prices, model);
  const left = limits.flatMap((limit) => outputTokensLeft(limit, price));
  return { isExhausted: false, ...(left.length > 0 && { outputTokens: Math.min(...left) }) };
}

/** Output tokens that each ceiling leaves. A call may pass it by its input, which is known only afterwards. */
function outputTokensLeft(
  { ceiling, spent }: { readonly ceiling: Ceiling; readonly spent: Spending },
  microsPerMillion: number | undefined,
): number[] {
  const left: number[] = [];
  if (ceiling.maxTokens !== null) left.push(ceiling.maxTokens - spent.tokens);
  if (ceiling.maxCostMicros !== null && microsPerMillion !== undefined && microsPerMillion > 0) {
    const micros = ceiling.maxCostMicros - spent.costMicros;
    left.push(Math.max(Math.floor((micros * 1_000_000) / microsPerMillion), 1));
  }
  return left;
}
