import { type RunErrorCode, type RunStatus, runId, sessionId } from '@convoke/contract';
import type { RunSummary, RunWalk } from '../../domain/run/run-summary.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type {
  InteractionInTenant,
  RunRange,
  TenantListRepository,
} from '../../ports/repositories/tenant-lists.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { type InteractionRow, interactionOf } from './interactions.ts';
import { labelsIn } from './labels.ts';
import { type UsageColumns, usageIn } from './run-rows.ts';

export function tenantListRepository(db: Transaction): TenantListRepository {
  return {
    async runs(scope, walk, range) {
      const rows = await db.all<SummaryRow>(
        walk.kind === 'label'
          ? labelledRuns(scope, walk, range)
          : sql`
            select ${summaryColumns} from runs
            where tenant_id = ${scope.tenantId} ${ofWalk(walk)} ${inRange(sql`id`, range)}`,
      );
      return rows.map(summaryOf);
    },

    async interactions(scope, which, page) {
      const isPending = which === 'pending' ? sql`and interactions.status = 'pending'` : sql``;
      const rows = await db.all<InteractionInTenantRow>(sql`
        select ${interactionColumns} from interactions join runs on runs.id = interactions.run_id
        where interactions.tenant_id = ${scope.tenantId} ${isPending}
        ${inRange(sql`interaction_key`, page)}`);
      return rows.map(inTenant);
    },

    async interaction(scope, key) {
      const row = await db.get<InteractionInTenantRow>(sql`
        select ${interactionColumns} from interactions join runs on runs.id = interactions.run_id
        where interaction_key = ${key} and interactions.tenant_id = ${scope.tenantId}`);
      return row && inTenant(row);
    },

    async overview({ tenantId: tenant }, { most, now }) {
      const counted = async (status: RunStatus) => {
        const row = await db.get<{ n: number }>(sql`
          select count(*) as n from (select id from runs where tenant_id = ${tenant}
            and status = ${status} and ended_at is null limit ${most}) as counted`);
        return row?.n ?? 0;
      };
      const pending = await db.get<{ n: number; oldest: number | null }>(sql`
        select count(*) as n, min(created_at) as oldest from (
          select created_at from interactions where tenant_id = ${tenant} and status = 'pending'
            and expires_at >= ${now} order by interaction_key limit ${most}) as counted`);
      const queued = await db.get<{ created_at: number }>(sql`
        select created_at from runs where tenant_id = ${tenant} and status = 'queued'
          and ended_at is null order by id limit 1`);
      return {
        queued: await counted('queued'),
        running: await counted('running'),
        waiting: await counted('waiting'),
        cancelling: await counted('cancelling'),
        pendingInteractions: pending?.n ?? 0,
        oldestPendingAt: pending?.oldest ?? null,
        oldestQueuedAt: queued?.created_at ?? null,
      };
    },
  };
}

const summaryColumns = sql`runs.id, runs.session_id, runs.agent_name, runs.status, runs.preview,
  runs.labels, runs.created_by, runs.error_code, runs.pending_interactions, runs.input_tokens,
  runs.output_tokens, runs.cost_micros, runs.cost_currency, runs.created_at, runs.started_at,
  runs.ended_at`;

const interactionColumns = sql`interactions.*, runs.agent_name, runs.labels, runs.preview`;

/** The condition of the index that the walk visits. */
function ofWalk(walk: Exclude<RunWalk, { kind: 'label' }>): Statement {
  switch (walk.kind) {
    case 'all':
      return sql``;
    case 'failed':
      return sql`and status = 'failed'`;
    case 'open':
      return sql`and status = ${walk.status} and ended_at is null`;
    default:
      return walk satisfies never;
  }
}

/** Labels belong to sessions too; the ids of runs are a range. */
function labelledRuns(
  { tenantId }: TenantScope,
  { key, value }: Extract<RunWalk, { kind: 'label' }>,
  range: RunRange,
): Statement {
  const runsOnly = { ...range, from: range.from ?? 'run_', until: range.until ?? 'run`' };
  return sql`
    select ${summaryColumns} from labels join runs on runs.id = labels.owner_id
    where labels.tenant_id = ${tenantId} and labels.key = ${key} and labels.value = ${value}
    ${inRange(sql`labels.owner_id`, runsOnly)}`;
}

function inRange(id: Statement, { from, until, after, order, limit }: RunRange): Statement {
  const parts: Statement[] = [];
  if (from !== undefined) parts.push(sql`and ${id} >= ${from}`);
  if (until !== undefined) parts.push(sql`and ${id} < ${until}`);
  if (after !== undefined) {
    parts.push(order === 'asc' ? sql`and ${id} > ${after}` : sql`and ${id} < ${after}`);
  }
  parts.push(order === 'asc' ? sql`order by ${id}` : sql`order by ${id} desc`);
  return sql`${sql.join(parts, ' ')} limit ${limit}`;
}

interface SummaryRow extends UsageColumns {
  id: string;
  session_id: string;
  agent_name: string;
  status: RunStatus;
  preview: string | null;
  labels: string | null;
  created_by: string | null;
  error_code: RunErrorCode | null;
  pending_interactions: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

function summaryOf(row: SummaryRow): RunSummary {
  return {
    id: runId(row.id),
    sessionId: sessionId(row.session_id),
    agentName: row.agent_name,
    status: row.status,
    preview: row.preview ?? '',
    labels: labelsIn(row),
    createdBy: row.created_by,
    errorCode: row.error_code,
    pendingInteractions: row.pending_interactions,
    usage: usageIn(row),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

type InteractionInTenantRow = InteractionRow &
  Pick<SummaryRow, 'agent_name' | 'labels' | 'preview'>;

function inTenant(row: InteractionInTenantRow): InteractionInTenant {
  return {
    interaction: interactionOf(row),
    run: { agentName: row.agent_name, labels: labelsIn(row), preview: row.preview ?? '' },
  };
}
