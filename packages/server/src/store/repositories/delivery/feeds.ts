import { tenantId } from '@convoke/contract';
import type { Notice } from '../../../domain/notice.ts';
import type { FeedBounds, FeedRepository } from '../../../ports/repositories/delivery/feeds.ts';
import { rowInserter } from '../../insert-rows.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

const insertRows = rowInserter(
  sql`insert into notices (tenant_id, seq, type, body, created_at)`,
  5,
);

export function feedRepository(db: Transaction): FeedRepository {
  return {
    async tryLock(tenant) {
      const row = await db.get<FeedRow>(sql`
        select last_seq, oldest_seq from feeds where tenant_id = ${tenant} ${sql.forUpdateSkipLocked}`);
      if (row !== undefined) return boundsOf(row);
      const made = await db.run(sql`
        insert into feeds (tenant_id, last_seq, oldest_seq) values (${tenant}, 0, 1)
        on conflict (tenant_id) do nothing`);
      return made === 1 ? none : undefined;
    },

    async append(tenant, notices, at) {
      const last = notices.at(-1);
      if (last === undefined) return;
      insertRows(
        db,
        notices.map(({ seq, type, body }) => [tenant, seq, type, body, at]),
      );
      const changed = await db.run(sql`
        update feeds set last_seq = ${last.seq}
        where tenant_id = ${tenant} and last_seq = ${last.seq - notices.length}`);
      if (changed !== 1) throw new Error(`the feed of ${tenant} changed while it was locked`);
    },

    async bounds(scope) {
      const row = await db.get<FeedRow>(
        sql`select last_seq, oldest_seq from feeds where tenant_id = ${scope.tenantId}`,
      );
      return row === undefined ? none : boundsOf(row);
    },

    after: (scope, after, limit) =>
      db.all<Notice>(sql`
        select seq, type, body from notices
        where tenant_id = ${scope.tenantId} and seq > ${after} order by seq limit ${limit}`),

    async lastSeqs(tenants) {
      if (tenants.length === 0) return [];
      const rows = await db.all<{ tenant_id: string; last_seq: number }>(sql`
        select tenant_id, last_seq from feeds
        where tenant_id in (${sql.join(tenants.map((id) => sql`${id}`))})`);
      return rows.map((row) => ({ id: tenantId(row.tenant_id), lastSeq: row.last_seq }));
    },

    async nextTenantWithOld(after, before) {
      const row = await db.get<{ tenant_id: string }>(sql`
        select feeds.tenant_id from feeds
          join notices on notices.tenant_id = feeds.tenant_id and notices.seq = feeds.oldest_seq
        where feeds.tenant_id > ${after ?? ''} and notices.created_at < ${before}
        order by feeds.tenant_id limit 1`);
      return row && tenantId(row.tenant_id);
    },

    async forget(tenant, before, limit) {
      const removed = await db.run(sql`
        delete from notices where tenant_id = ${tenant} and created_at < ${before} and seq in (
          select seq from notices where tenant_id = ${tenant} order by seq limit ${limit})`);
      await db.run(sql`
        update feeds set oldest_seq = coalesce(
          (select min(seq) from notices where tenant_id = ${tenant}), last_seq + 1)
        where tenant_id = ${tenant}`);
      return removed;
    },

    async purge(tenant, limit) {
      const removed = await db.run(sql`
        delete from notices where tenant_id = ${tenant} and seq in (
          select seq from notices where tenant_id = ${tenant} order by seq limit ${limit})`);
      if (removed >= limit) return false;
      await db.run(sql`delete from feeds where tenant_id = ${tenant}`);
      return true;
    },
  };
}

interface FeedRow {
  last_seq: number;
  oldest_seq: number;
}

const none: FeedBounds = { lastSeq: 0, oldestSeq: 1 };

function boundsOf({ last_seq: lastSeq, oldest_seq: oldestSeq }: FeedRow): FeedBounds {
  return { lastSeq, oldestSeq };
}
