import { organizationId, tenantId } from '@convoke/contract';
import {
  type Countable,
  type UsageAmounts,
  type UsageTotal,
  noAmounts,
} from '../../../domain/usage/usage-totals.ts';
import type {
  ReadLabelTotals,
  ReadTotals,
  UsageGroup,
  UsageRow,
  UsageTotalRepository,
} from '../../../ports/repositories/usage/usage-totals.ts';
import { rowInserter } from '../../insert-rows.ts';
import type { SqlValue, Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { labelsIn } from '../runs/labels.ts';

export function usageTotalRepository(db: Transaction): UsageTotalRepository {
  return {
    async take(limit, currency) {
      const entries = await takeEntries(db, limit, currency);
      return [...entries, ...(await takeRuns(db, limit))];
    },

    add(totals) {
      addTotals(
        db,
        totals.map((total) => [
          total.tenantId,
          total.grain,
          total.startsAt,
          total.agentName,
          total.model,
          total.clientId,
          total.sessionId,
          ...amountsOf(total),
        ]),
      );
    },

    addLabels(totals) {
      addLabelTotals(
        db,
        totals.map((total) => [
          total.tenantId,
          total.key,
          total.startsAt,
          total.value,
          ...amountsOf(total),
        ]),
      );
    },

    async read(request) {
      const rows = await db.all<TotalRow>(readStatement(request));
      return rows.map(toUsageRow);
    },

    async readLabel(request) {
      const rows = await db.all<TotalRow>(readLabelStatement(request));
      return rows.map(toUsageRow);
    },

    forget(grain, before, limit) {
      return db.run(sql`
        delete from usage_totals where (${keyColumns}) in (
          select ${keyColumns} from usage_totals
          where grain = ${grain} and starts_at < ${before} limit ${limit})`);
    },

    forgetLabels(before, limit) {
      return db.run(sql`
        delete from usage_label_totals where (${labelColumns}) in (
          select ${labelColumns} from usage_label_totals where starts_at < ${before} limit ${limit})`);
    },

    async purge(tenant, limit) {
      const removed = await db.run(sql`
        delete from usage_totals where (${keyColumns}) in (
          select ${keyColumns} from usage_totals where tenant_id = ${tenant} limit ${limit})`);
      const ofLabels = await db.run(sql`
        delete from usage_label_totals where (${labelColumns}) in (
          select ${labelColumns} from usage_label_totals where tenant_id = ${tenant} limit ${limit})`);
      return Math.max(removed, ofLabels) < limit;
    },
  };
}

const keyColumns = sql`tenant_id, grain, starts_at, agent_name, model, client_id, session_id`;
const labelColumns = sql`tenant_id, label_key, starts_at, label_value`;

async function takeEntries(db: Transaction, limit: number, currency: string): Promise<Countable[]> {
  const rows = await db.all<EntryRow>(sql`
    update usage_entries set is_counted = 1 where (run_id, epoch, seq) in (
      select run_id, epoch, seq from usage_entries where is_counted = 0
      order by run_id, epoch, seq limit ${limit} ${sql.forUpdateSkipLocked})
    returning *, (select labels from runs where runs.id = usage_entries.run_id) as labels`);
  return rows.map((row) => ({
    ...placeOf(row),
    model: row.model,
    at: row.at,
    amounts: {
      ...noAmounts,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cachedInputTokens: row.cached_input_tokens,
      reasoningTokens: row.reasoning_tokens,
      costMicros: row.cost_currency === currency ? row.cost_micros : null,
    },
  }));
}

async function takeRuns(db: Transaction, limit: number): Promise<Countable[]> {
  const rows = await db.all<EndedRow>(sql`
    update runs set is_usage_due = 0 where id in (
      select id from runs where is_usage_due = 1 order by id limit ${limit}
      ${sql.forUpdateSkipLocked})
    returning tenant_id, organization_id, session_id, agent_name, client_id, labels, status,
      started_at, ended_at`);
  return rows.map((row) => ({
    ...placeOf(row),
    model: '',
    at: row.ended_at,
    amounts: {
      ...noAmounts,
      [row.status]: 1,
      runMs: row.started_at === null ? 0 : Math.max(row.ended_at - row.started_at, 0),
    },
  }));
}

function placeOf(row: PlaceRow) {
  return {
    tenantId: tenantId(row.tenant_id),
    organizationId: organizationId(row.organization_id),
    sessionId: row.session_id,
    agentName: row.agent_name,
    clientId: row.client_id ?? '',
    labels: labelsIn(row),
  };
}

const amountColumns = sql`organization_id, completed, failed, cancelled, run_ms, input_tokens,
  output_tokens, cached_input_tokens, reasoning_tokens, cost_micros`;
const amountCount = 10;

function amountsOf(total: UsageAmounts & Pick<UsageTotal, 'organizationId'>): SqlValue[] {
  return [
    total.organizationId,
    total.completed,
    total.failed,
    total.cancelled,
    total.runMs,
    total.inputTokens,
    total.outputTokens,
    total.cachedInputTokens,
    total.reasoningTokens,
    total.costMicros,
  ];
}

function addedTo(table: Statement): Statement {
  return sql`
    completed = ${table}.completed + excluded.completed,
    failed = ${table}.failed + excluded.failed,
    cancelled = ${table}.cancelled + excluded.cancelled,
    run_ms = ${table}.run_ms + excluded.run_ms,
    input_tokens = ${table}.input_tokens + excluded.input_tokens,
    output_tokens = ${table}.output_tokens + excluded.output_tokens,
    cached_input_tokens = ${table}.cached_input_tokens + excluded.cached_input_tokens,
    reasoning_tokens = ${table}.reasoning_tokens + excluded.reasoning_tokens,
    cost_micros = coalesce(${table}.cost_micros + excluded.cost_micros, ${table}.cost_micros,
      excluded.cost_micros)`;
}

const addTotals = rowInserter(
  sql`insert into usage_totals (${keyColumns}, ${amountColumns})`,
  7 + amountCount,
  sql`on conflict (${keyColumns}) do update set ${addedTo(sql`usage_totals`)}`,
);
const addLabelTotals = rowInserter(
  sql`insert into usage_label_totals (${labelColumns}, ${amountColumns})`,
  4 + amountCount,
  sql`on conflict (${labelColumns}) do update set ${addedTo(sql`usage_label_totals`)}`,
);

const groupColumns: Readonly<Record<UsageGroup, Statement>> = {
  agent: sql`agent_name`,
  model: sql`model`,
  client: sql`client_id`,
  session: sql`session_id`,
  tenant: sql`tenant_id`,
};

function readStatement(request: ReadTotals): Statement {
  const { of, grain, from, to, hasBuckets, groupBy, limit, after } = request;
  const group = groupBy && groupColumns[groupBy];
  const where = [
    ownedBy(of),
    sql`grain = ${grain}`,
    sql`starts_at >= ${from} and starts_at < ${to}`,
  ];
  // The ends of runs, which may have used several models.
  if (groupBy === 'model') where.push(sql`model <> ''`);
  if (after !== undefined) where.push(positionAfter(after, hasBuckets, group));
  const keys = [...(hasBuckets ? [sql`starts_at`] : []), ...(group === undefined ? [] : [group])];
  const start = hasBuckets ? sql`starts_at` : sql`0`;
  const selected = sql`
    select ${start} as starts_at, ${group ?? sql`''`} as group_name, ${sums}
    from usage_totals where ${sql.join(where, ' and ')}`;
  // Without groups there is one row, also if nothing was used.
  if (keys.length === 0) return sql`${selected} having count(*) > 0`;
  return sql`${selected} group by ${sql.join(keys)} order by ${sql.join(keys)} limit ${limit}`;
}

/** Walks the days in order, however many values there are: its work is that of the page. */
function readLabelStatement({ of, key, from, to, limit, after }: ReadLabelTotals): Statement {
  const value = sql`label_value`;
  return sql`
    select starts_at, label_value as group_name, ${sums} from usage_label_totals
    where ${ownedBy(of)} and label_key = ${key} and starts_at >= ${from} and starts_at < ${to}
      ${after === undefined ? sql`` : sql`and ${positionAfter(after, true, value)}`}
    group by starts_at, label_value order by starts_at, label_value limit ${limit}`;
}

const sums = sql`
  sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
  sum(run_ms) as run_ms, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
  sum(cached_input_tokens) as cached_input_tokens, sum(reasoning_tokens) as reasoning_tokens,
  sum(cost_micros) as cost_micros`;

function ownedBy(of: ReadTotals['of']): Statement {
  return 'tenantId' in of
    ? sql`tenant_id = ${of.tenantId}`
    : sql`organization_id = ${of.organizationId}`;
}

function positionAfter(
  after: NonNullable<ReadTotals['after']>,
  hasBuckets: boolean,
  group: Statement | undefined,
): Statement {
  if (!hasBuckets) return group === undefined ? sql`1 = 0` : sql`${group} > ${after.group}`;
  if (group === undefined) return sql`starts_at > ${after.startsAt}`;
  return sql`(starts_at > ${after.startsAt}
    or (starts_at = ${after.startsAt} and ${group} > ${after.group}))`;
}

function toUsageRow(row: TotalRow): UsageRow {
  const amounts: UsageAmounts = {
    completed: row.completed,
    failed: row.failed,
    cancelled: row.cancelled,
    runMs: row.run_ms,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedInputTokens: row.cached_input_tokens,
    reasoningTokens: row.reasoning_tokens,
    costMicros: row.cost_micros,
  };
  return { startsAt: row.starts_at, group: row.group_name, ...amounts };
}

interface PlaceRow {
  tenant_id: string;
  organization_id: string;
  session_id: string;
  agent_name: string;
  client_id: string | null;
  labels: string | null;
}

interface EntryRow extends PlaceRow {
  model: string;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_micros: number | null;
  cost_currency: string | null;
  at: number;
}

interface EndedRow extends PlaceRow {
  status: 'completed' | 'failed' | 'cancelled';
  started_at: number | null;
  ended_at: number;
}

interface TotalRow {
  starts_at: number;
  group_name: string;
  completed: number;
  failed: number;
  cancelled: number;
  run_ms: number;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_micros: number | null;
}
