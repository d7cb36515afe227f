import { tenantId } from '@convoke/contract';
import type { OutboxRepository, PlainNotice } from '../../../ports/repositories/delivery/outbox.ts';
import { rowInserter } from '../../insert-rows.ts';
import { fromJsonText } from '../../json-text.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

const insertRows = rowInserter(sql`insert into outbox (tenant_id, type, body)`, 3);

export function outboxRepository(db: Transaction): OutboxRepository {
  return {
    add(tenant, notices) {
      insertRows(
        db,
        notices.map(({ type, body }) => [tenant, type, body]),
      );
    },

    async nextTenant(after) {
      const row = await db.get<{ tenant_id: string | null }>(
        sql`select min(tenant_id) as tenant_id from outbox where tenant_id > ${after ?? ''}`,
      );
      return typeof row?.tenant_id === 'string' ? tenantId(row.tenant_id) : undefined;
    },

    async take(tenant, limit) {
      // In one statement: on PostgreSQL a second one could see rows that were committed in between.
      const rows = await db.all<PlainNotice & { position: number }>(sql`
        delete from outbox where position in (
          select position from outbox where tenant_id = ${tenant} order by position limit ${limit})
        returning position, type, body`);
      return rows
        .toSorted((a, b) => a.position - b.position)
        .map(({ type, body }) => ({ type, body }));
    },

    async oldestAt() {
      const row = await db.get<{ body: string }>(
        sql`select body from outbox order by position limit 1`,
      );
      const body = fromJsonText<{ readonly created_at: string }>(row?.body ?? null);
      return body === null ? undefined : Date.parse(body.created_at);
    },

    async purge(tenant, limit) {
      const removed = await db.run(sql`
        delete from outbox where position in (
          select position from outbox where tenant_id = ${tenant} limit ${limit})`);
      return removed < limit;
    },
  };
}
