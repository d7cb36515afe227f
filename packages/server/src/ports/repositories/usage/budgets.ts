import type { OrganizationId, RunId, SessionId, TenantId } from '@convoke/contract';
import type { Budget, BudgetState, Ceiling, Spending } from '../../../domain/usage/budget.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { PageRequest } from '../../page.ts';

export interface BudgetRepository {
  insert(budget: Budget): Promise<void>;
  find(organizationId: OrganizationId, id: string): Promise<Budget | undefined>;
  /** The budget of a scope and period, locked until the transaction ends. */
  lockOf(budget: Pick<Budget, 'organizationId' | 'scope' | 'period'>): Promise<Budget | undefined>;
  lock(organizationId: OrganizationId, id: string): Promise<Budget | undefined>;
  /** Writes `next` if the version is still that of `seen`; false otherwise. */
  save(next: Budget, seen: Budget): Promise<boolean>;
  remove(id: string): Promise<void>;
  list(organizationId: OrganizationId, page: PageRequest): Promise<Budget[]>;
  count(organizationId: OrganizationId): Promise<number>;
  /** Whether the organization has budgets. A new run is compared with them only then. */
  exist(organizationId: OrganizationId): Promise<boolean>;
  /** The agent of a session; undefined when the organization has no such session. */
  agentOfSession(organizationId: OrganizationId, id: string): Promise<string | undefined>;
  /** The used part of a budget in the period that starts at a time. */
  spent(id: string, startsAt: number): Promise<Spending>;
  /**
   * Adds to the used part, if the budget still exists. Shards keep reports of many runs from waiting for each other;
   * `spent` sums them.
   */
  add(charge: Charge): Promise<void>;
  /** The ceilings of the run and of its callers, and the budgets that apply to it, in the order of their ids. */
  ofRun(runId: RunId, now: number): Promise<RunBudgets>;
  /** The ceilings of the run and of its callers, as far as they have one, with what each tree has used (D-923). */
  ofCallers(run: Pick<Run, 'id' | 'ancestors'>): Promise<CeilingOfRun[]>;
  /** The budgets that apply to a new run and leave nothing for it. */
  exhausted(run: NewRunGuard): Promise<BudgetState[]>;
  /** All budgets of an organization, with the part used in the current period. */
  states(organizationId: OrganizationId, now: number): Promise<BudgetState[]>;
  /** True for the first time that a share of a budget, which still exists, was reached in a period. */
  noteReached(reached: { id: string; startsAt: number; percent: number }): Promise<boolean>;
  /** Deletes the sums of periods before a time. */
  forget(before: number, limit: number): Promise<number>;
  /** Deletes the budgets of a tenant or session. */
  purge(scope: { readonly tenantId: TenantId } | { readonly sessionId: SessionId }): Promise<void>;
}

export interface Charge {
  readonly id: string;
  readonly startsAt: number;
  readonly shard: number;
  readonly spent: Spending;
}

/** A ceiling for a run and all that it has called. */
export interface CeilingOfRun {
  readonly runId: RunId;
  readonly ceiling: Ceiling;
  readonly spent: Spending;
}

export interface RunBudgets {
  readonly ceilings: readonly CeilingOfRun[];
  readonly budgets: readonly BudgetState[];
}

/** A new run, as budgets look at it. */
export interface NewRunGuard {
  readonly run: Pick<Run, 'organizationId' | 'tenantId' | 'sessionId' | 'clientId' | 'agentName'>;
  readonly now: number;
  /** Whether budgets of cost refuse it, because its model has no price. */
  readonly isUnpriced: boolean;
}
