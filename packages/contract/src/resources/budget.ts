import { z } from 'zod';
import { exampleId } from '../ids.ts';
import { limits } from '../limits.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

/** What a budget can limit, and for how long (D-132). */
export const budgetScopeKinds = ['tenant', 'client', 'agent', 'session'] as const;
export const budgetPeriods = ['day', 'month', 'total'] as const;

export const maxTokens = z
  .int()
  .min(1)
  .max(limits.ceilingTokensMax)
  .meta({ description: 'Input and output tokens together.', examples: [1_000_000] });
export const maxCost = z
  .int()
  .min(1)
  .max(limits.ceilingCostMax)
  .meta({ description: 'In millionths of the currency.', examples: [5_000_000] });

/** The ceiling of one run; on a request it can only lower that of the agent. */
export const runBudget = z.strictObject({
  max_tokens: maxTokens.optional(),
  max_cost: maxCost.optional(),
});

export const budgetScope = z.strictObject({
  kind: z.enum(budgetScopeKinds),
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .meta({
      description: 'Id of the tenant, client or session, or name of the agent.',
      examples: [exampleId('tenant')],
    }),
});

export const budgetRecord = z
  .object({
    id: opaqueId('budget'),
    scope: z.object({ kind: z.enum(budgetScopeKinds), id: z.string() }),
    period: z.enum(budgetPeriods),
    max_tokens: maxTokens.optional(),
    max_cost: maxCost.optional(),
    currency: z
      .string()
      .meta({ description: 'ISO 4217.', examples: ['USD'] })
      .optional(),
    spent: z
      .object({ tokens: z.int().min(0), cost: z.int().min(0) })
      .meta({ description: 'In the current period, since the budget was set.' }),
    resets_at: timestamp
      .meta({ description: 'Start of the next period. Absent for `total`.' })
      .optional(),
    version: z.int().min(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Budget', description: 'A limit for all runs of a scope in each period.' });

export type BudgetRecord = z.infer<typeof budgetRecord>;

export const budgetList = z.object({ budgets: z.array(budgetRecord), next_cursor: nextCursor });
