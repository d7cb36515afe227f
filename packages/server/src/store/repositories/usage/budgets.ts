import { runId } from '@convoke/contract';
import { callersOf, pathOf } from '../../../domain/run/ancestry.ts';
import type { Run } from '../../../domain/run/run.ts';
import { type Budget, type BudgetState, periodStart } from '../../../domain/usage/budget.ts';
import type {
  BudgetRepository,
  CeilingOfRun,
  NewRunGuard,
} from '../../../ports/repositories/usage/budgets.ts';
import { type NounRow, made, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { ceilingIn, isBelow } from '../runs/run-columns.ts';

/** Budgets of an organization are few (`limits.budgetsPerOrganization`). */
const statesMax = 1000;

/** The columns of a budget: a new field of a budget is one line here. */
const budgetTable = nounTable<Budget>('budgets', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    scope: made({
      scope_kind: { kind: 'text', write: ({ scope }) => scope.kind, written: 'fixed' },
      scope_id: { kind: 'text', write: ({ scope }) => scope.id, written: 'fixed' },
    }, (row: { scope_kind: Budget['scope']['kind']; scope_id: string }) => (
      { kind: row.scope_kind, id: row.scope_id })),
    period: text('period', 'fixed'),
    ceiling: made({
      max_tokens: { kind: 'bigint', write: ({ ceiling }) => ceiling.maxTokens },
      max_cost_micros: { kind: 'bigint', write: ({ ceiling }) => ceiling.maxCostMicros },
    }, ceilingIn),
    version: number('version'),
    createdBy: text('created_by', 'fixed'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
  },
});

export function budgetRepository(db: Transaction): BudgetRepository {
  return { ...records(db), ...spending(db) };
}

type Records = Pick<
  BudgetRepository,
  | 'insert'
  | 'find'
  | 'lockOf'
  | 'lock'
  | 'save'
  | 'remove'
  | 'list'
  | 'count'
  | 'exist'
  | 'agentOfSession'
  | 'purge'
>;

function records(db: Transaction): Records {
  const removeWhere = async (where: Statement) => {
    const ids = sql`select id from budgets where ${where}`;
    // Reports that are being added hold a share of the lock.
    await db.all(sql`${ids} ${sql.forUpdate}`);
    await db.run(sql`delete from budget_periods where budget_id in (${ids})`);
    await db.run(sql`delete from budget_notices where budget_id in (${ids})`);
    await db.run(sql`delete from budgets where ${where}`);
  };
  return {
    async insert(budget) {
      await db.run(budgetTable.insert(budget));
    },
    async find(organization, id) {
      const row = await db.get<NounRow>(sql`
        select * from budgets where id = ${id} and organization_id = ${organization}`);
      return row && budgetTable.read(row);
    },
    async lockOf({ organizationId: organization, scope, period }) {
      const row = await db.get<NounRow>(sql`
        select * from budgets
        where organization_id = ${organization} and scope_kind = ${scope.kind}
          and scope_id = ${scope.id} and period = ${period} ${sql.forUpdate}`);
      return row && budgetTable.read(row);
    },
    async lock(organization, id) {
      const row = await db.get<NounRow>(sql`
        select * from budgets where id = ${id} and organization_id = ${organization}
        ${sql.forUpdate}`);
      return row && budgetTable.read(row);
    },
    async save(next, seen) {
      const changed = await db.run(sql`
        update budgets set ${budgetTable.assignments(next)}
        where id = ${seen.id} and version = ${seen.version}`);
      return changed === 1;
    },
    remove: (id) => removeWhere(sql`id = ${id}`),
    async list(organization, page) {
      const rows = await db.all<NounRow>(sql`
        select * from budgets where organization_id = ${organization} ${pageOf(page, 'id')}`);
      return rows.map(budgetTable.read);
    },
    async count(organization) {
      const row = await db.get<{ n: number }>(
        sql`select count(*) as n from budgets where organization_id = ${organization}`,
      );
      return row?.n ?? 0;
    },
    async exist(organization) {
      const row = await db.get<{ id: string }>(
        sql`select id from budgets where organization_id = ${organization} limit 1`,
      );
      return row !== undefined;
    },
    async agentOfSession(organization, id) {
      const row = await db.get<{ agent_name: string }>(sql`
        select agent_name from sessions where id = ${id} and organization_id = ${organization}`);
      return row?.agent_name;
    },
    purge: (scope) =>
      removeWhere(
        'tenantId' in scope
          ? sql`scope_kind = 'tenant' and scope_id = ${scope.tenantId}`
          : sql`scope_kind = 'session' and scope_id = ${scope.sessionId}`,
      ),
  };
}

function spending(db: Transaction): Omit<BudgetRepository, keyof Records> {
  return {
    async spent(id, startsAt) {
      const row = await db.get<{ tokens: number; cost_micros: number }>(sql`
        select coalesce(sum(tokens), 0) as tokens, coalesce(sum(cost_micros), 0) as cost_micros
        from budget_periods where budget_id = ${id} and starts_at = ${startsAt}`);
      return { tokens: row?.tokens ?? 0, costMicros: row?.cost_micros ?? 0 };
    },
    async add({ id, startsAt, shard, spent }) {
      await db.run(sql`
        insert into budget_periods (budget_id, starts_at, shard, tokens, cost_micros)
        select id, cast(${startsAt} as bigint), cast(${shard} as bigint),
          cast(${spent.tokens} as bigint), cast(${spent.costMicros} as bigint)
        from budgets where id = ${id} ${sql.forShare}
        on conflict (budget_id, starts_at, shard) do update set
          tokens = budget_periods.tokens + excluded.tokens,
          cost_micros = budget_periods.cost_micros + excluded.cost_micros`);
    },
    async ofRun(id, now) {
      const rows = await db.all<RunBudgetRow>(sql`
        select runs.ancestors as run_ancestors, runs.max_tokens as run_max_tokens,
          runs.max_cost_micros as run_max_cost, budgets.*, ${spentColumns(now)}
        from runs left join budgets on budgets.organization_id = runs.organization_id and (
          (scope_kind = 'tenant' and scope_id = runs.tenant_id)
          or (scope_kind = 'session' and scope_id = runs.session_id)
          or (scope_kind = 'agent' and scope_id = runs.agent_name)
          or (scope_kind = 'client' and scope_id = runs.client_id))
        where runs.id = ${id} order by budgets.id`);
      const [run] = rows;
      if (run === undefined) throw new Error(`run ${id} does not exist`);
      const { run_ancestors: ancestors, run_max_tokens, run_max_cost } = run;
      const mayHave = ancestors !== null || run_max_tokens !== null || run_max_cost !== null;
      return {
        ceilings: mayHave ? await ceilingsOf(db, { id, ancestors }) : [],
        budgets: rows.flatMap((row) => (hasBudget(row) ? [toState(row)] : [])),
      };
    },
    ofCallers: (run) => ceilingsOf(db, run),
    async exhausted(guard) {
      const rows = await db.all<StateRow>(sql`
        select budgets.*, ${spentColumns(guard.now)} from budgets
        where ${exhaustedBudget(guard)} order by id`);
      return rows.map(toState);
    },
    async states(organization, now) {
      const rows = await db.all<StateRow>(sql`
        select budgets.*, ${spentColumns(now)} from budgets
        where organization_id = ${organization} order by id limit ${statesMax}`);
      return rows.map(toState);
    },
    async noteReached({ id, startsAt, percent }) {
      const changed = await db.run(sql`
        insert into budget_notices (budget_id, starts_at, percent)
        select id, cast(${startsAt} as bigint), cast(${percent} as bigint)
        from budgets where id = ${id} ${sql.forShare} on conflict do nothing`);
      return changed === 1;
    },
    async forget(before, limit) {
      const old = sql`starts_at > 0 and starts_at < ${before}`;
      await db.run(sql`delete from budget_notices where ${old}`);
      return db.run(sql`
        delete from budget_periods where (budget_id, starts_at, shard) in (
          select budget_id, starts_at, shard from budget_periods where ${old} limit ${limit})`);
    },
  };
}

/** Sums the tree below each run that has a ceiling: one range of an index each, and at most six of them. */
async function ceilingsOf(
  db: Transaction,
  run: Pick<Run, 'id' | 'ancestors'>,
): Promise<CeilingOfRun[]> {
  const ids = sql.join([...callersOf(run), run.id].map((id) => sql`${id}`));
  const rows = await db.all<CeilingRow>(sql`
    select id, ancestors, max_tokens, max_cost_micros from runs
    where id in (${ids}) and (max_tokens is not null or max_cost_micros is not null) order by id`);
  return Promise.all(
    rows.map(async (row) => {
      const id = runId(row.id);
      const used = sql`input_tokens, output_tokens, cost_micros`;
      const sum = await db.get<{ tokens: number; cost: number }>(sql`
        select coalesce(sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)), 0) as tokens,
          coalesce(sum(cost_micros), 0) as cost
        from (select ${used} from runs where id = ${id} union all
          select ${used} from runs where ${isBelow(pathOf({ ...row, id }))}) as tree`);
      const spent = { tokens: sum?.tokens ?? 0, costMicros: sum?.cost ?? 0 };
      return { runId: id, ceiling: ceilingIn(row), spent };
    }),
  );
}

interface CeilingRow {
  readonly id: string;
  readonly ancestors: string | null;
  readonly max_tokens: number | null;
  readonly max_cost_micros: number | null;
}

/** The period that `now` is in, of the budget of the row. */
function startColumn(now: number): Statement {
  return sql`case budgets.period when 'day' then cast(${periodStart('day', now)} as bigint)
    when 'month' then cast(${periodStart('month', now)} as bigint) else 0 end`;
}

function spentColumns(now: number): Statement {
  return sql`${spentOf(sql`tokens`, now)} as spent_tokens, ${spentOf(sql`cost_micros`, now)} as spent_cost`;
}

function spentOf(column: Statement, now: number): Statement {
  return sql`(select coalesce(sum(${column}), 0) from budget_periods
    where budget_id = budgets.id and starts_at = ${startColumn(now)})`;
}

/** The condition of a budget that applies to a new run and leaves nothing for it. */
export function exhaustedBudget({ run, now, isUnpriced }: NewRunGuard): Statement {
  return sql`budgets.organization_id = ${run.organizationId} and (
      (scope_kind = 'tenant' and scope_id = ${run.tenantId})
      or (scope_kind = 'session' and scope_id = ${run.sessionId})
      or (scope_kind = 'agent' and scope_id = ${run.agentName})
      or (scope_kind = 'client' and scope_id = ${run.clientId}))
    and (budgets.max_tokens <= ${spentOf(sql`tokens`, now)}
      or budgets.max_cost_micros <= ${spentOf(sql`cost_micros`, now)}
      or (budgets.max_cost_micros is not null and cast(${isUnpriced ? 1 : 0} as bigint) = 1))`;
}

interface StateRow extends NounRow {
  spent_tokens: number;
  spent_cost: number;
}

type RunBudgetRow = (StateRow | (Omit<StateRow, 'id'> & { id: null })) & {
  run_ancestors: string | null;
  run_max_tokens: number | null;
  run_max_cost: number | null;
};

function hasBudget(row: RunBudgetRow): row is RunBudgetRow & StateRow {
  return row.id !== null;
}

function toState(row: StateRow): BudgetState {
  return {
    budget: budgetTable.read(row),
    spent: { tokens: row.spent_tokens, costMicros: row.spent_cost },
  };
}
