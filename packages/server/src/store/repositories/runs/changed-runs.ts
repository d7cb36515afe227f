import { type RunStatus, runId, sessionId } from '@convoke/contract';
import type { TenantScope } from '../../../domain/scope.ts';
import type {
  ChangeRange,
  ChangedRun,
  ChangedRunRepository,
  ChangedRuns,
  RunPhase,
} from '../../../ports/repositories/runs/changed-runs.ts';
import type { Reader, Statement } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function changedRunRepository(db: Reader): ChangedRunRepository {
  return {
    async list(scope, of, range) {
      const rows = await db.all<ChangedRow>(sql`
        select * from (${phasesOf(scope, { of, columns: listed }, range)}) as changed
        ${latestFirst} limit ${range.limit}`);
      return rows.map(changedOf);
    },

    async count(scope, of, range) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from (
          select id from (${phasesOf(scope, { of, columns: placed }, range)}) as changed
          limit ${range.limit}) as counted`);
      return row?.n ?? 0;
    },

    async lastOf(scope, of, range) {
      const row = await db.get<Pick<ChangedRow, 'status_at' | 'id'>>(sql`
        select status_at, id from (${phasesOf(scope, { of, columns: placed }, range)}) as changed
        ${latestFirst} limit 1 offset ${range.limit - 1}`);
      return row && { statusAt: row.status_at, id: row.id };
    },
  };
}

const latestFirst = sql`order by status_at desc, id desc`;
const listed = sql`id, session_id, status, pending_interactions, status_at`;
/** Columns of the index only: rows that are counted are not read. */
const placed = sql`id, status_at`;

interface WantedColumns {
  readonly of: ChangedRuns;
  readonly columns: Statement;
}

/** The next runs of every phase: each is read in the order of its index. */
function phasesOf(scope: TenantScope, wanted: WantedColumns, range: ChangeRange): Statement {
  const parts = wanted.of.phases.map(
    (phase) => sql`select * from (${phaseOf(scope, { ...wanted, phase }, range)}) as one`,
  );
  return sql.join(parts, ' union all ');
}

/** A run that was answered waits for its worker only, and the answer is its last change: it is among the latest. */
const answeredAmong = 1_000;

function phaseOf(
  scope: TenantScope,
  { of, columns, phase }: WantedColumns & { readonly phase: RunPhase },
  range: ChangeRange,
): Statement {
  const { limit } = range;
  const status = phase === 'asking' || phase === 'answered' ? 'waiting' : phase;
  const rows = sql`from runs where ${inStatus(scope, of, { ...range, status })}`;
  if (phase === 'answered') {
    return sql`select ${columns} from (select ${listed} ${rows} ${latestFirst} limit ${answeredAmong})
      as latest where pending_interactions = 0 ${latestFirst} limit ${limit}`;
  }
  const isAsking = phase === 'asking' ? sql`and pending_interactions > 0` : sql``;
  return sql`select ${columns} ${rows} ${isAsking} ${latestFirst} limit ${limit}`;
}

function inStatus(
  { tenantId }: TenantScope,
  of: ChangedRuns,
  { status, after }: ChangeRange & { readonly status: RunStatus },
): Statement {
  const place =
    'sessionId' in of.in
      ? sql`session_id = ${of.in.sessionId}`
      : sql`agent_name = ${of.in.agentName}`;
  const later =
    after === undefined ? sql`` : sql`and (status_at, id) < (${after.statusAt}, ${after.id})`;
  return sql`tenant_id = ${tenantId} and ${place} and status = ${status} ${later}`;
}

interface ChangedRow {
  id: string;
  session_id: string;
  status: RunStatus;
  pending_interactions: number;
  status_at: number;
}

function changedOf(row: ChangedRow): ChangedRun {
  return {
    id: runId(row.id),
    sessionId: sessionId(row.session_id),
    status: row.status,
    pendingInteractions: row.pending_interactions,
    statusAt: row.status_at,
  };
}
