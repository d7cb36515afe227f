import { runId as asRunId } from '@convoke/contract';
import type { RunEvent } from '../../../domain/run/run-event.ts';
import type { RunEventRepository } from '../../../ports/repositories/runs/run-events.ts';
import { rowInserter } from '../../insert-rows.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

const insertRows = rowInserter(sql`insert into run_events (run_id, seq, tenant_id, type, body)`, 5);

/** Enough for most reads, which return events that were just appended. */
const firstRows = 16;

export function runEventRepository(db: Transaction): RunEventRepository {
  return {
    append(tenantId, runId, events) {
      insertRows(
        db,
        events.map(({ seq, type, body }) => [runId, seq, tenantId, type, body]),
      );
    },

    async after(runId, after, { limit, maxBytes }) {
      const events: RunEvent[] = [];
      let bytes = 0;
      // Only the rows show how many of them fit into the byte limit. Reading a thousand large rows to return four
      // would make the cost of a long replay quadratic.
      for (let wanted = Math.min(firstRows, limit); wanted > 0; ) {
        const from = events.at(-1)?.seq ?? after;
        const rows = await db.all<RunEvent>(sql`
          select seq, type, body from run_events
          where run_id = ${runId} and seq > ${from} order by seq limit ${wanted}`);
        for (const row of rows) {
          bytes += Buffer.byteLength(row.body);
          if (events.length > 0 && bytes > maxBytes) return { events, isCut: true };
          events.push(row);
        }
        if (rows.length < wanted) return { events, isCut: false };
        const fitting = Math.ceil((maxBytes - bytes) / (bytes / events.length));
        wanted = Math.min(Math.max(fitting, 1), limit - events.length);
      }
      return { events, isCut: true };
    },

    async firstRun({ from, until }) {
      const row = await db.get<{ run_id: string }>(sql`
        select run_id from run_events where run_id >= ${from} and run_id < ${until}
        order by run_id limit 1`);
      return row && asRunId(row.run_id);
    },

    async hasRunAfter({ from, until }, endedBefore) {
      const row = await db.get<{ id: string }>(sql`
        select id from runs where id >= ${from} and id < ${until}
          and (ended_at is null or ended_at >= ${endedBefore}) limit 1`);
      return row !== undefined;
    },

    async forget(runId, endedBefore, limit) {
      // Deletes the oldest first: while any event is left, the terminal one is.
      return db.run(sql`
        delete from run_events where run_id = ${runId} and seq in (
          select seq from run_events where run_id = ${runId} order by seq limit ${limit})
        and not exists (
          select 1 from runs where id = ${runId} and (ended_at is null or ended_at >= ${endedBefore}))`);
    },
  };
}
