import { deleteBudget, getBudget, listBudgets, setBudget } from '../../app/usage/budgets.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { replayed } from '../idempotency-key.ts';
import { budgetView } from '../views/budgets.ts';

type BudgetOperations = 'list_budgets' | 'set_budget' | 'get_budget' | 'delete_budget';

export function budgetRoutes(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'agents' | 'prices'>,
  { cursors }: { readonly cursors: Cursors },
): Handlers<BudgetOperations> {
  const { currency } = services.prices;
  const view = (state: Parameters<typeof budgetView>[0]) =>
    budgetView(state, { currency, now: services.clock.now() });
  return {
    async list_budgets({ caller, query }) {
      const { items, next } = await cursors.page(`budgets:${caller.organizationId}`, query, {
        read: (page) => listBudgets(services, caller.organizationId, page),
        idOf: ({ budget }) => budget.id,
      });
      return { status: 200, body: { budgets: items.map(view), ...next } };
    },

    async set_budget({ caller, headers, body, request, chargeRate }) {
      const { state, outcome } = await setBudget(services, caller.organizationId, {
        scope: body.scope,
        period: body.period,
        ceiling: { maxTokens: body.max_tokens ?? null, maxCostMicros: body.max_cost ?? null },
        version: body.version,
        idempotencyKey: headers['idempotency-key'],
        by: actorOf(caller, request),
        chargeRate,
      });
      if (outcome === 'created') return { status: 201, body: view(state) };
      const repeated = outcome === 'replayed' ? { headers: replayed } : {};
      return { status: 200, body: view(state), ...repeated };
    },

    async get_budget({ caller, params }) {
      const state = await getBudget(services, caller.organizationId, params.budget_id);
      return { status: 200, body: view(state) };
    },

    async delete_budget({ caller, params, request }) {
      const at = { id: params.budget_id, by: actorOf(caller, request) };
      await deleteBudget(services, caller.organizationId, at);
      return { status: 204, body: undefined };
    },
  };
}
