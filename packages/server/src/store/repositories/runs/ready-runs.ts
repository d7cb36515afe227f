import { type TenantId, organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import type { ClaimBounds, ReadyRun, ReadyRuns } from '../../../ports/repositories/runs/runs.ts';
import type { Reader } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/**
 * Selects ready runs fairly between tenants: takes the head of each tenant's queue and ranks a run behind all runs
 * that its tenant already executes. Every statement is a bounded index scan, so the cost of a pass does not depend on
 * how many runs wait.
 */
export async function readyRuns(db: Reader, bounds: ClaimBounds): Promise<ReadyRuns> {
  const ranked = await continuing(db, bounds);
  let after = bounds.after;
  for (let visited = 0; visited < bounds.tenants; visited += 1) {
    const head = await headOfNext(db, after, bounds.limit);
    const [first] = head;
    if (first === undefined) return pageOf(ranked, bounds, undefined);
    after = tenantId(first.tenant_id);
    const executing = await executingOf(db, after);
    ranked.push(...head.map((row, index) => ({ row, rank: executing + index })));
  }
  return pageOf(ranked, bounds, after);
}

function pageOf(
  ranked: readonly RankedRow[],
  bounds: ClaimBounds,
  next: TenantId | undefined,
): ReadyRuns {
  const runs = bestRanked(ranked, bounds);
  // Each statement has the limit, too.
  return { runs, next, hasLeft: runs.length < ranked.length || ranked.length >= bounds.limit };
}

/** Interrupted runs whose pause is over, each behind the runs that its tenant executes. */
async function continuing(db: Reader, { now, limit, machine }: ClaimBounds): Promise<RankedRow[]> {
  const rows = await db.all<ReadyRow>(sql`
    select id, organization_id, tenant_id, session_id, continue_at as ready_at, losses from runs
    where continue_at is not null and (
      (hold_until is null and continue_at <= ${now}) or
      (hold_until is not null and last_machine = ${machine}))
    order by tenant_id, continue_at, id limit ${limit}`);
  const executing = new Map<string, number>();
  const ranked: RankedRow[] = [];
  for (const row of rows) {
    const rank = executing.get(row.tenant_id) ?? (await executingOf(db, tenantId(row.tenant_id)));
    executing.set(row.tenant_id, rank + 1);
    ranked.push({ row, rank });
  }
  return ranked;
}

/** The head of the queue of the next tenant, by id, that has a ready run. */
async function headOfNext(
  db: Reader,
  after: TenantId | undefined,
  limit: number,
): Promise<ReadyRow[]> {
  return db.all<ReadyRow>(sql`
    select id, organization_id, tenant_id, session_id, ready_at, losses from runs
    where ready_at is not null and tenant_id = (
      select min(tenant_id) from runs where ready_at is not null and tenant_id > ${after ?? ''}
    )
    order by ready_at, id limit ${limit}`);
}

export async function executingOf(db: Reader, tenant: TenantId): Promise<number> {
  const row = await db.get<{ n: number }>(sql`
    select count(*) as n from runs where tenant_id = ${tenant} and lease_owner is not null`);
  return row?.n ?? 0;
}

function bestRanked(ranked: readonly RankedRow[], { limit, perTenant }: ClaimBounds): ReadyRun[] {
  return ranked
    .filter(({ rank }) => rank < perTenant)
    .sort((a, b) => a.rank - b.rank || a.row.ready_at - b.row.ready_at)
    .slice(0, limit)
    .map(({ row }) => readyRunOf(row));
}

interface RankedRow {
  readonly row: ReadyRow;
  /** How many runs of the same tenant precede it. */
  readonly rank: number;
}

interface ReadyRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  session_id: string;
  ready_at: number;
  losses: number;
}

function readyRunOf(row: ReadyRow): ReadyRun {
  return {
    id: runId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    losses: row.losses,
  };
}
