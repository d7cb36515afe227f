import type { BudgetRecord } from '@convoke/contract';
import { type BudgetState, periodEnd } from '../../domain/usage/budget.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';

export function budgetView(
  { budget, spent }: BudgetState,
  { currency, now }: { readonly currency: string; readonly now: number },
): BudgetRecord {
  const { maxTokens, maxCostMicros } = budget.ceiling;
  return {
    id: budget.id,
    scope: budget.scope,
    period: budget.period,
    max_tokens: maxTokens ?? undefined,
    ...(maxCostMicros === null ? {} : { max_cost: maxCostMicros, currency }),
    spent: { tokens: spent.tokens, cost: spent.costMicros },
    resets_at: timeIn(periodEnd(budget.period, now)),
    version: budget.version,
    created_at: isoTime(budget.createdAt),
    updated_at: isoTime(budget.updatedAt),
  };
}
