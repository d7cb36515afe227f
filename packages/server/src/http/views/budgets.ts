import type { BudgetRecord } from '@convoke/contract';
import { type BudgetState, periodEnd } from '../../domain/usage/budget.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { optional, optionalTime } from './fields.ts';

export function budgetView(
  { budget, spent }: BudgetState,
  { currency, now }: { readonly currency: string; readonly now: number },
): BudgetRecord {
  const { maxTokens, maxCostMicros } = budget.ceiling;
  return {
    id: budget.id,
    scope: budget.scope,
    period: budget.period,
    ...optional('max_tokens', maxTokens),
    ...(maxCostMicros === null ? {} : { max_cost: maxCostMicros, currency }),
    spent: { tokens: spent.tokens, cost: spent.costMicros },
    ...optionalTime('resets_at', periodEnd(budget.period, now)),
    version: budget.version,
    created_at: isoTime(budget.createdAt),
    updated_at: isoTime(budget.updatedAt),
  };
}
