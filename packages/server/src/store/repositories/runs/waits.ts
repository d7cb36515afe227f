import type { Wait } from '../../../domain/run/wait.ts';
import type { WaitRepository } from '../../../ports/repositories/runs/waits.ts';
import { type NounRow, jsonText, nounTable, number, text } from '../../columns.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a wait: a new field of a wait is one line here. */
const waitTable = nounTable<Wait>('waits', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    sessionId: text('session_id', 'fixed'),
    runId: text('run_id', 'fixed'),
    ref: text('ref'),
    kind: text('kind', 'fixed'),
    name: text('name', 'fixed'),
    status: text('status'),
    dueAt: number('due_at', 'fixed'),
    childSessionId: text('child_session_id', 'fixed'),
    childRunId: text('child_run_id', 'fixed'),
    number: number('number'),
    result: jsonText('result'),
    createdAt: number('created_at', 'fixed'),
    settledAt: number('settled_at'),
    appliedAt: number('applied_at'),
  },
});

/** Settled, and asked for: a leg is to get it. */
const isUnapplied = sql`ref is not null and status = 'settled' and applied_at is null`;

export function waitRepository(db: Transaction): WaitRepository {
  return {
    async insert(wait) {
      await db.run(waitTable.insert(wait));
    },

    async find(id) {
      const row = await db.get<NounRow>(sql`select * from waits where id = ${id}`);
      return row && waitTable.read(row);
    },

    async findByRef(run, ref) {
      const row = await db.get<NounRow>(sql`
        select * from waits where run_id = ${run} and ref = ${ref}`);
      return row && waitTable.read(row);
    },

    async ofRun(run) {
      const rows = await db.all<NounRow>(sql`
        select * from waits where run_id = ${run} and ref is not null order by id`);
      return rows.map(waitTable.read);
    },

    async open(run, limit) {
      const rows = await db.all<NounRow>(sql`
        select * from waits where run_id = ${run} and status = 'open' order by id limit ${limit}`);
      return rows.map(waitTable.read);
    },

    async ofCalled(run) {
      const row = await db.get<NounRow>(sql`select * from waits where child_run_id = ${run}`);
      return row && waitTable.read(row);
    },

    async countCalls(run) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from waits where run_id = ${run} and child_run_id is not null`);
      return row?.n ?? 0;
    },

    async doomed(limit) {
      const rows = await db.all<NounRow>(sql`
        select * from waits where is_doomed = 1 order by id limit ${limit}`);
      return rows.map(waitTable.read);
    },

    async doom(id) {
      await db.run(sql`
        update waits set is_doomed = 1 where id = ${id} and child_run_id is not null`);
    },

    async forgetDoom(id) {
      await db.run(sql`update waits set is_doomed = 0 where id = ${id}`);
    },

    async openSignal(run, name) {
      const row = await db.get<NounRow>(sql`
        select * from waits
        where run_id = ${run} and status = 'open' and kind = 'signal' and name = ${name}
        order by id limit 1`);
      return row && waitTable.read(row);
    },

    async kept(run, name) {
      const row = await db.get<NounRow>(sql`
        select * from waits where run_id = ${run} and ref is null and name = ${name}
        order by id limit 1`);
      return row && waitTable.read(row);
    },

    async messages(run) {
      const row = await db.get<{ kept: number; characters: number }>(sql`
        select count(case when ref is null then 1 end) as kept,
          coalesce(sum(length(result)), 0) as characters
        from waits where run_id = ${run} and kind = 'signal'`);
      return { kept: row?.kept ?? 0, characters: row?.characters ?? 0 };
    },

    async nextNumber(run) {
      const row = await db.get<{ settled: number }>(sql`
        select (select count(*) from waits where run_id = ${run} and number is not null)
          + (select count(*) from interactions where run_id = ${run}
            and (status = 'answered' or decided_by = 'expiry')) as settled`);
      return (row?.settled ?? 0) + 1;
    },

    async settle(wait) {
      const changed = await db.run(sql`
        update waits set ${waitTable.assignments(wait)}
        where id = ${wait.id} and (status = 'open' or ref is null)`);
      return changed === 1;
    },

    async any(run) {
      const row = await db.get<NounRow>(sql`
        select id from waits where run_id = ${run} and ref is not null limit 1`);
      return row !== undefined;
    },

    async hasUnapplied(run) {
      const row = await db.get<NounRow>(sql`
        select id from waits where run_id = ${run} and ${isUnapplied} limit 1`);
      return row !== undefined;
    },

    async markApplied(run, now) {
      await db.run(sql`
        update waits set applied_at = ${now} where run_id = ${run} and ${isUnapplied}`);
    },

    async cancelOpen(run) {
      await db.run(sql`
        update waits set status = 'cancelled',
          is_doomed = case when child_run_id is null then 0 else 1 end
        where run_id = ${run} and status = 'open'`);
    },

    forget({ endedBefore, until }, limit) {
      return db.run(sql`
        delete from waits where id in (
          select waits.id from waits join runs on runs.id = run_id
          where run_id < ${until} and runs.ended_at < ${endedBefore}
          order by run_id, waits.id limit ${limit})`);
    },

    async due(now, limit) {
      const rows = await db.all<NounRow>(sql`
        select * from waits where status = 'open' and due_at <= ${now}
        order by due_at limit ${limit}`);
      return rows.map(waitTable.read);
    },
  };
}
