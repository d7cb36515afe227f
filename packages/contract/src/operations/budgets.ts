import { z } from 'zod';
import { budgetIdSchema, exampleId, organizationIdSchema } from '../ids.ts';
import { byRole, defineOperation } from '../operation.ts';
import {
  budgetList,
  budgetPeriods,
  budgetRecord,
  budgetScope,
  maxCost,
  maxTokens,
} from '../resources/budget.ts';
import { pageQuery } from '../resources/page.ts';
import { idempotencyHeader, replayedHeader } from './idempotency.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;
const ofBudget = { ...ofOrganization, budget_id: budgetIdSchema } as const;

const example = {
  scope: { kind: 'tenant', id: exampleId('tenant') },
  period: 'day',
  max_cost: 5_000_000,
} as const;

export const listBudgets = defineOperation({
  id: 'list_budgets',
  sdk: { method: 'budgets.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/budgets',
  tag: 'Usage',
  summary: 'List the budgets of the organization',
  description: 'Lists every budget with its usage in the current period.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: budgetList } },
  errors: [],
});

export const setBudget = defineOperation({
  id: 'set_budget',
  sdk: { method: 'budgets.set' },
  method: 'PUT',
  path: '/v1/organizations/{organization_id}/budgets',
  tag: 'Usage',
  summary: 'Set the budget of a tenant, client, agent or session',
  description:
    'A scope has at most one budget for each period. Without `version` the budget is new; with the `version` that you read, its limits are replaced. Usage in the current period is kept. A lower limit applies from the next usage report of every executing run. A first `max_cost` is refused with `unpriced_model` where the scope has agents ' +
    'whose models have no price: it would refuse all their runs.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  headers: idempotencyHeader,
  body: z
    .strictObject({
      scope: budgetScope,
      period: z
        .enum(budgetPeriods)
        .meta({ description: 'Days and months are those of UTC; `total` never resets.' }),
      max_tokens: maxTokens.optional(),
      max_cost: maxCost.optional(),
      version: z
        .int()
        .min(1)
        .meta({ description: 'The version that you read before; absent for a new budget.' })
        .optional(),
    })
    .check(namesACeiling)
    .meta({ examples: [example] }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new budget.', schema: budgetRecord },
    200: {
      description: 'The budget, changed now or by an earlier request with this key.',
      schema: budgetRecord,
      headers: replayedHeader,
    },
  },
  errors: ['unpriced_model', 'budget_limit_reached', 'idempotency_conflict', 'version_conflict'],
});

export const getBudget = defineOperation({
  id: 'get_budget',
  sdk: { method: 'budgets.get' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/budgets/{budget_id}',
  tag: 'Usage',
  summary: 'Read a budget',
  description: 'Returns the budget with its usage in the current period.',
  caller: 'human',
  scope: byRole,
  params: ofBudget,
  responses: { 200: { description: 'The budget.', schema: budgetRecord } },
  errors: [],
});

export const deleteBudget = defineOperation({
  id: 'delete_budget',
  sdk: { method: 'budgets.delete' },
  method: 'DELETE',
  path: '/v1/organizations/{organization_id}/budgets/{budget_id}',
  tag: 'Usage',
  summary: 'Delete a budget',
  description: 'Its limits no longer apply, and its usage is reset. Deleting it again is 204, too.',
  caller: 'human',
  scope: byRole,
  params: ofBudget,
  responses: { 204: { description: 'Deleted.' } },
  errors: [],
});

type Ceilings = {
  readonly max_tokens?: number | undefined;
  readonly max_cost?: number | undefined;
};

function namesACeiling({ value, issues }: z.core.ParsePayload<Ceilings>): void {
  if (value.max_tokens !== undefined || value.max_cost !== undefined) return;
  issues.push({
    code: 'custom',
    path: ['max_tokens'],
    message: 'or max_cost is required',
    input: value,
  });
}
