import { type OrganizationId, clientId, idPrefixes, limits, tenantId } from '@convoke/contract';
import { isoTime } from '../../domain/iso-time.ts';
import type { Actor } from '../../domain/audit.ts';
import {
  type Budget,
  type BudgetState,
  type Ceiling,
  isReached,
  periodEnd,
  periodStart,
} from '../../domain/usage/budget.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { NewRunGuard } from '../../ports/repositories/usage/budgets.ts';
import type { Store, StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { once } from '../once.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { refuseUnpricedAgents } from './unpriced-models.ts';

export interface SetBudget {
  readonly scope: Budget['scope'];
  readonly period: Budget['period'];
  readonly ceiling: Ceiling;
  /** Absent for a new budget. */
  readonly version: number | undefined;
  readonly idempotencyKey: string;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

export interface BudgetSet {
  readonly state: BudgetState;
  readonly outcome: 'created' | 'changed' | 'replayed';
}

type BudgetServices = Pick<Services, 'store' | 'clock' | 'ids' | 'agents' | 'prices'>;

/** D-134. Locks the organization's row, so that parallel requests make neither two budgets of a scope nor too many. */
export async function setBudget(
  services: BudgetServices,
  organizationId: OrganizationId,
  request: SetBudget,
): Promise<BudgetSet> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const { scope, period, ceiling, version, by } = request;
    await tx.organizations.lock(organizationId);
    const seen = await tx.budgets.lockOf({ organizationId, scope, period });
    const id = seen?.id ?? services.ids.next(idPrefixes.budget);
    const first = await once(tx, {
      scope: { organizationId },
      place: 'set_budget',
      key: request.idempotencyKey,
      body: {
        scope: `${scope.kind}:${scope.id}`,
        period,
        max_tokens: ceiling.maxTokens,
        max_cost: ceiling.maxCostMicros,
        version: version ?? null,
      },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      const known = await tx.budgets.find(organizationId, first.resourceId);
      const state = await stateOf(tx.budgets, known ?? refuse('not_found'), now);
      return { state, outcome: 'replayed' };
    }
    await requireScope(tx, organizationId, scope);
    // One that limits the cost already can be changed at any time, for example lowered.
    const isNewCeiling = ceiling.maxCostMicros !== null && !limitsCost(seen);
    if (isNewCeiling) await refuseUnpricedAgents(services, tx, { organizationId, scope });
    const next =
      seen === undefined
        ? await create(tx, { ...request, id, organizationId }, now)
        : await change(tx, { seen, request }, now);
    const state = await stateOf(tx.budgets, next, now);
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: seen === undefined ? 'budget.create' : 'budget.update',
      object: id,
      details: { ...scopeDetails(next), ...ceilingDetails(ceiling), version: next.version },
    });
    return { state, outcome: seen === undefined ? 'created' : 'changed' };
  });
}

function limitsCost(budget: Budget | undefined): boolean {
  return budget !== undefined && budget.ceiling.maxCostMicros !== null;
}

async function create(
  tx: StoreTransaction,
  request: SetBudget & Pick<Budget, 'id' | 'organizationId'>,
  now: number,
): Promise<Budget> {
  const { id, organizationId, scope, period, ceiling, version, by } = request;
  if (version !== undefined) return refuse('version_conflict', { message: noSuchBudget });
  if ((await tx.budgets.count(organizationId)) >= limits.budgetsPerOrganization) {
    return refuse('budget_limit_reached');
  }
  const times = { createdAt: now, updatedAt: now };
  const owner = { id, organizationId, scope, period, createdBy: by.id };
  const budget = { ...owner, ceiling, version: 1, ...times };
  await tx.budgets.insert(budget);
  return budget;
}

async function change(
  tx: StoreTransaction,
  { seen, request }: { readonly seen: Budget; readonly request: SetBudget },
  now: number,
): Promise<Budget> {
  if (request.version !== seen.version) {
    return refuse('version_conflict', {
      message: `This scope has a budget for the period, ${seen.id}, of version ${seen.version}.`,
    });
  }
  const next = { ...seen, ceiling: request.ceiling, version: seen.version + 1, updatedAt: now };
  return (await tx.budgets.save(next, seen)) ? next : refuse('version_conflict');
}

const noSuchBudget = 'There is no budget of this scope and period: leave version out.';

/** Refuses a scope that the organization does not have. An agent may be deployed later. */
async function requireScope(
  tx: StoreTransaction,
  organizationId: OrganizationId,
  { kind, id }: Budget['scope'],
): Promise<void> {
  const exists = {
    tenant: async () => (await tx.tenants.bindable(organizationId, [tenantId(id)])).length > 0,
    client: async () => (await tx.clients.find(organizationId, clientId(id))) !== undefined,
    session: async () => (await tx.budgets.agentOfSession(organizationId, id)) !== undefined,
    agent: () => Promise.resolve(true),
  };
  if (await exists[kind]()) return;
  refuse('invalid_body', { message: `scope.id: the organization has no ${kind} ${id}.` });
}

export async function listBudgets(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  page: PageRequest,
): Promise<BudgetState[]> {
  const budgets = await store.read.budgets.list(organizationId, page);
  const now = clock.now();
  return Promise.all(budgets.map((budget) => stateOf(store.read.budgets, budget, now)));
}

export async function getBudget(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  id: string,
): Promise<BudgetState> {
  const budget = (await store.read.budgets.find(organizationId, id)) ?? refuse('not_found');
  return stateOf(store.read.budgets, budget, clock.now());
}

/** One that is not there is deleted already (D-490). */
export async function deleteBudget(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  { id, by }: { readonly id: string; readonly by: Actor },
): Promise<void> {
  await store.transaction(async (tx) => {
    const seen = await tx.budgets.lock(organizationId, id);
    if (seen === undefined) return;
    await tx.budgets.remove(id);
    await recordAudit(tx, {
      chain: organizationId,
      at: clock.now(),
      by,
      action: 'budget.delete',
      object: id,
      details: { ...scopeDetails(seen), ...ceilingDetails(seen.ceiling) },
    });
  });
}

async function stateOf(
  budgets: Store['read']['budgets'],
  budget: Budget,
  now: number,
): Promise<BudgetState> {
  return { budget, spent: await budgets.spent(budget.id, periodStart(budget.period, now)) };
}

function scopeDetails({ scope, period }: Pick<Budget, 'scope' | 'period'>) {
  return { scope_kind: scope.kind, scope_id: scope.id, period };
}

function ceilingDetails({ maxTokens, maxCostMicros }: Ceiling) {
  return { max_tokens: maxTokens, max_cost: maxCostMicros };
}

/** D-132: refuses a new run, with the budget that leaves nothing for it. */
export async function refuseExhausted(tx: StoreTransaction, guard: NewRunGuard): Promise<never> {
  const [state] = await tx.budgets.exhausted(guard);
  if (state === undefined) return refuse('budget_exhausted');
  const { id, scope, period, ceiling } = state.budget;
  if (!isReached(ceiling, state.spent)) {
    return refuse('unpriced_model', {
      message: `The budget ${id} limits the cost, and the model of this agent has no price.`,
      details: { budget_id: id },
    });
  }
  const end = periodEnd(period, guard.now);
  return refuse('budget_exhausted', {
    message: `The budget for the ${scope.kind} ${scope.id} is used up${until(end)}.`,
    details: {
      budget_id: id,
      ...(end === undefined ? {} : { resets_at: isoTime(end) }),
    },
  });
}

function until(end: number | undefined): string {
  return end === undefined ? '; it has no next period' : ` until ${isoTime(end)}`;
}
