import type { WaitKind } from '../../../domain/run/wait.ts';
import type { RunBacklog } from '../../../ports/repositories/runs/runs.ts';
import type { Reader, Statement } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/**
 * Counts unfinished runs with indexes that hold only those, each up to `most`, so the cost does not depend on how many
 * runs have ended. Tenants are visited one by one, because the index of ready runs starts with the tenant.
 */
export async function runBacklog(db: Reader, most: number): Promise<RunBacklog> {
  const ready = await countOf(
    db,
    sql`select id from runs where ready_at is not null limit ${most}`,
  );
  const queued = await countOf(
    db,
    sql`select ready_at from (
      select ready_at from runs where status = 'queued' limit ${most}
    ) as queue where ready_at is null`,
  );
  const waiting = await countOf(
    db,
    sql`select distinct run_id from (
      select run_id from interactions where status = 'pending' limit ${most}
    ) as pending`,
  );
  const parked = await countOf(
    db,
    sql`select distinct run_id from (
      select run_id from waits where status = 'open' limit ${most}
    ) as open where exists (
      select 1 from runs where id = run_id and status = 'running' and lease_owner is null
        and ready_at is null and continue_at is null
    )`,
  );
  const leased = await db.all<{ status: string; n: number }>(sql`
    select status, count(*) as n
    from (select status from runs where lease_owner is not null limit ${most}) as held
    group by status`);
  const cancelled = await countOf(
    db,
    sql`select id from runs where status = 'cancelling' and lease_owner is null limit ${most}`,
  );
  const interrupted = await countOf(
    db,
    sql`select id from runs where continue_at is not null limit ${most}`,
  );
  const openWaits = (kind: WaitKind) =>
    countOf(
      db,
      sql`select run_id from waits where status = 'open' and kind = ${kind} limit ${most}`,
    );
  const held = (status: string) => leased.find((row) => row.status === status)?.n ?? 0;
  return {
    ready,
    queued,
    running: held('running'),
    interrupted,
    waiting,
    parked,
    cancelling: held('cancelling') + cancelled,
    openWaits: {
      timer: await openWaits('timer'),
      signal: await openWaits('signal'),
      run: await openWaits('run'),
    },
    oldestReadyAt: await oldestReady(db, most),
  };
}

async function countOf(db: Reader, rows: Statement): Promise<number> {
  const row = await db.get<{ n: number }>(sql`select count(*) as n from (${rows}) as counted`);
  return row?.n ?? 0;
}

async function oldestReady(db: Reader, most: number): Promise<number | undefined> {
  const row = await db.get<{ oldest: number | null }>(sql`
    with recursive waiting (tenant_id) as (
      select min(tenant_id) from runs where ready_at is not null
      union all
      select (select min(tenant_id) from runs where ready_at is not null and tenant_id > waiting.tenant_id)
      from waiting where waiting.tenant_id is not null
    )
    select min(first_at) as oldest from (
      select (select min(ready_at) from runs where ready_at is not null and tenant_id = waiting.tenant_id) as first_at
      from waiting where tenant_id is not null limit ${most}
    ) as heads`);
  return row?.oldest ?? undefined;
}
