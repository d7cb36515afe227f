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
        select * from (${partsOf(scope, { of, columns: listed }, range)}) as changed
        ${latestFirst} limit ${range.limit}`);
      return rows.map(changedOf);
    },

    async count(scope, of, range) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from (
          select id from (${partsOf(scope, { of, columns: placed }, range)}) as changed
          limit ${range.limit}) as counted`);
      return row?.n ?? 0;
    },

    async lastOf(scope, of, range) {
      const row = await db.get<Pick<ChangedRow, 'status_at' | 'id'>>(sql`
        select status_at, id from (${partsOf(scope, { of, columns: placed }, range)}) as changed
        ${latestFirst} limit 1 offset ${range.limit - 1}`);
      return row && { statusAt: row.status_at, id: row.id };
    },
  };
}

const latestFirst = sql`order by status_at desc, id desc`;
const listed = sql`id, session_id, status, pending_interactions, status_at`;
/** Columns of the indexes: of what is counted, only rows that are sorted are read. */
const placed = sql`id, status_at`;

interface WantedColumns {
  readonly of: ChangedRuns;
  readonly columns: Statement;
}

/** The next runs, in parts that are each read in the order of an index or are few. */
function partsOf({ tenantId }: TenantScope, wanted: WantedColumns, range: ChangeRange): Statement {
  const { of } = wanted;
  const ofTenant = sql`tenant_id = ${tenantId}`;
  const parts: Statement[] = [];
  if ('sessionId' in of.in) {
    const ofSession = sql`${ofTenant} and session_id = ${of.in.sessionId}`;
    const first = of.phases.map((phase) => sql`(${isIn(phase)})`);
    parts.push(
      sorted(wanted, range, sql`${ofSession} and ${isEarly} and (${sql.join(first, ' or ')})`),
    );
    for (const phase of of.phases) {
      parts.push(inOrder(wanted, range, { rows: sql`${ofSession} and ${isLate}`, phase }));
    }
  } else {
    const ofAgent = sql`${ofTenant} and agent_name = ${of.in.agentName}`;
    for (const phase of of.phases) {
      parts.push(inOrder(wanted, range, { rows: sql`${ofAgent} and ${isResting}`, phase }));
      if (!canExecute.has(statusOf(phase))) continue;
      parts.push(sorted(wanted, range, sql`${ofAgent} and ${isExecuting} and ${isIn(phase)}`));
    }
  }
  return sql.join(
    parts.map((part) => sql`select * from (${part}) as one`),
    ' union all ',
  );
}

/**
 * The first hundred runs of a session are sorted for each page, and only later ones are in an index of the session.
 * They are so few because SQLite finds the time of a run behind its input, of up to 1 MB.
 */
const isEarly = sql`number <= 100`;
const isLate = sql`number > 100`;

/** Runs that no server executes. SQLite uses an index with "lease_owner is null" for any statement that says so. */
const isResting = sql`coalesce(lease_owner, '') = ''`;
/** Runs that a server executes, which are few and sorted for each page. */
const isExecuting = sql`lease_owner is not null`;
const canExecute: ReadonlySet<RunStatus> = new Set(['running', 'waiting', 'cancelling']);

/** A run that was answered waits for its worker only, and the answer is its last change: it is among the latest. */
const answeredAmong = 1_000;

/** Runs of one phase, from an index that ends with the status and the time of the last change. */
function inOrder(
  { columns }: WantedColumns,
  range: ChangeRange,
  { rows, phase }: { readonly rows: Statement; readonly phase: RunPhase },
): Statement {
  const status = sql`status = ${statusOf(phase)}`;
  const found = sql`from runs where ${rows} and ${status} ${behind(range)}`;
  if (phase === 'answered') {
    return sql`select ${columns} from (select ${listed} ${found} ${latestFirst} limit ${answeredAmong})
      as latest where pending_interactions = 0 ${latestFirst} limit ${range.limit}`;
  }
  const isAsking = phase === 'asking' ? sql`and pending_interactions > 0` : sql``;
  return sql`select ${columns} ${found} ${isAsking} ${latestFirst} limit ${range.limit}`;
}

function sorted({ columns }: WantedColumns, range: ChangeRange, rows: Statement): Statement {
  return sql`select ${columns} from runs where ${rows} ${behind(range)}
    ${latestFirst} limit ${range.limit}`;
}

function behind({ after }: ChangeRange): Statement {
  return after === undefined ? sql`` : sql`and (status_at, id) < (${after.statusAt}, ${after.id})`;
}

function isIn(phase: RunPhase): Statement {
  const status = sql`status = ${statusOf(phase)}`;
  if (phase === 'asking') return sql`${status} and pending_interactions > 0`;
  return phase === 'answered' ? sql`${status} and pending_interactions = 0` : status;
}

function statusOf(phase: RunPhase): RunStatus {
  return phase === 'asking' || phase === 'answered' ? 'waiting' : phase;
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
