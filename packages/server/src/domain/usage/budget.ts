import type { OrganizationId } from '@convoke/contract';

/** Ceilings. Null: no ceiling of that kind. */
export interface Ceiling {
  readonly maxTokens: number | null;
  readonly maxCostMicros: number | null;
}

/** Usage: input and output tokens, and the cost of those that have a price. */
export interface Spending {
  readonly tokens: number;
  readonly costMicros: number;
}

export const noCeiling: Ceiling = { maxTokens: null, maxCostMicros: null };

export const budgetScopeKinds = ['tenant', 'client', 'agent', 'session'] as const;
export type BudgetScopeKind = (typeof budgetScopeKinds)[number];
export type BudgetPeriod = 'day' | 'month' | 'total';

/** D-132: a ceiling for all runs of a tenant, client, agent or session, in each period. Only people set one (D-134). */
export interface Budget {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly scope: { readonly kind: BudgetScopeKind; readonly id: string };
  readonly period: BudgetPeriod;
  readonly ceiling: Ceiling;
  readonly version: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A budget with its usage in the current period. */
export interface BudgetState {
  readonly budget: Budget;
  readonly spent: Spending;
}

/** The stricter of two ceilings: a request can lower that of its agent, never raise it. */
export function stricter(a: Ceiling, b: Ceiling): Ceiling {
  return {
    maxTokens: lower(a.maxTokens, b.maxTokens),
    maxCostMicros: lower(a.maxCostMicros, b.maxCostMicros),
  };
}

function lower(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

export function isReached({ maxTokens, maxCostMicros }: Ceiling, spent: Spending): boolean {
  if (maxTokens !== null && spent.tokens >= maxTokens) return true;
  return maxCostMicros !== null && spent.costMicros >= maxCostMicros;
}

/** The larger share of the two ceilings that is used, in whole percent. */
export function percentUsed({ maxTokens, maxCostMicros }: Ceiling, spent: Spending): number {
  const shares = [
    maxTokens === null ? 0 : spent.tokens / maxTokens,
    maxCostMicros === null ? 0 : spent.costMicros / maxCostMicros,
  ];
  return Math.floor(Math.max(...shares) * 100);
}

/**
 * Reports that may be added to a budget at the same time without seeing each other. While more than this many reports
 * of the same size are left, a report need not wait for the others: together they cannot pass the ceiling unseen.
 */
const reportsAtOnce = 1000;

export function isFarFrom(ceiling: Ceiling, spent: Spending, more: Spending): boolean {
  const ahead = {
    tokens: spent.tokens + more.tokens * reportsAtOnce,
    costMicros: spent.costMicros + more.costMicros * reportsAtOnce,
  };
  return !isReached(ceiling, ahead);
}

const dayMs = 24 * 3_600_000;

/** Start of the period that a time is in, in UTC; 0 for `total`. */
export function periodStart(period: BudgetPeriod, at: number): number {
  switch (period) {
    case 'day':
      return Math.floor(at / dayMs) * dayMs;
    case 'month': {
      const date = new Date(at);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    }
    case 'total':
      return 0;
    default:
      return period satisfies never;
  }
}

/** When the next period starts; undefined for `total`, which has none. */
export function periodEnd(period: BudgetPeriod, at: number): number | undefined {
  switch (period) {
    case 'day':
      return periodStart('day', at) + dayMs;
    case 'month': {
      const date = new Date(at);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    }
    case 'total':
      return undefined;
    default:
      return period satisfies never;
  }
}

/** Whether a report or run counts for the budget. */
export function appliesTo({ organizationId, scope }: Budget, run: BudgetSubject): boolean {
  if (organizationId !== run.organizationId) return false;
  switch (scope.kind) {
    case 'tenant':
      return scope.id === run.tenantId;
    case 'client':
      return scope.id === run.clientId;
    case 'agent':
      return scope.id === run.agentName;
    case 'session':
      return scope.id === run.sessionId;
    default:
      return scope.kind satisfies never;
  }
}

interface BudgetSubject {
  readonly organizationId: string;
  readonly tenantId: string;
  readonly clientId: string | null;
  readonly agentName: string;
  readonly sessionId: string;
}
