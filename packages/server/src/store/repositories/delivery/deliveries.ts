import type { Delivery } from '../../../domain/webhook/webhook-delivery.ts';
import type { DeliveryRepository } from '../../../ports/repositories/delivery/webhooks.ts';
import { type NounRow, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a delivery: a new field of a delivery is one line here. */
const deliveryTable = nounTable<Delivery>('webhook_deliveries', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    webhookId: text('webhook_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    noticeSeq: number('notice_seq', 'fixed'),
    type: text('type', 'fixed'),
    testBody: text('test_body', 'fixed'),
    status: text('status'),
    tries: number('tries'),
    nextTryAt: number('next_try_at'),
    leaseOwner: text('lease_owner', 'changed'),
    leaseExpiresAt: number('lease_expires_at', 'changed'),
    responseStatus: number('response_status', 'changed'),
    responseExcerpt: text('response_excerpt', 'changed'),
    error: text('error', 'changed'),
    createdAt: number('created_at', 'fixed'),
    endedAt: number('ended_at', 'changed'),
  },
});

/** Rows in one statement: PostgreSQL takes 65,535 values in one. */
const rowsPerStatement = 500;

export function deliveryRepository(db: Transaction): DeliveryRepository {
  return { ...rows(db), ...sending(db) };
}

type SendingStatements =
  | 'countSending'
  | 'claim'
  | 'hasExpired'
  | 'releaseExpired'
  | 'sendAgain'
  | 'forget'
  | 'purge';

function rows(db: Transaction): Omit<DeliveryRepository, SendingStatements> {
  return {
    async insert(deliveries) {
      for (let at = 0; at < deliveries.length; at += rowsPerStatement) {
        const some = deliveries.slice(at, at + rowsPerStatement);
        await db.run(sql`${deliveryTable.insertAll(some)} on conflict do nothing`);
      }
    },

    async find(scope, webhook, id) {
      const row = await db.get<NounRow>(sql`
        select * from webhook_deliveries
        where id = ${id} and webhook_id = ${webhook} and tenant_id = ${scope.tenantId}`);
      return row && deliveryTable.read(row);
    },

    async list(scope, { webhookId: webhook, status }, page) {
      const isWanted = status === undefined ? sql`` : sql`and status = ${status}`;
      const found = await db.all<NounRow>(sql`
        select * from webhook_deliveries
        where webhook_id = ${webhook} and tenant_id = ${scope.tenantId} ${isWanted}
          ${pageOf(page, 'id')}`);
      return found.map(deliveryTable.read);
    },

    async save(delivery) {
      await db.run(sql`
        update webhook_deliveries set ${deliveryTable.assignments(delivery)}
        where id = ${delivery.id} and tenant_id = ${delivery.tenantId}`);
    },
  };
}

function sending(db: Transaction): Pick<DeliveryRepository, SendingStatements> {
  return {
    async countSending(webhook, now) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from webhook_deliveries
        where status = 'sending' and lease_expires_at > ${now} and webhook_id = ${webhook}`);
      return row?.count ?? 0;
    },

    async claim(webhook, { owner, now, expiresAt, limit }) {
      const claimed = await db.all<NounRow>(sql`
        update webhook_deliveries
        set status = 'sending', lease_owner = ${owner}, lease_expires_at = ${expiresAt}
        where id in (
          select id from webhook_deliveries
          where webhook_id = ${webhook} and status = 'pending' and next_try_at <= ${now}
          order by next_try_at, id limit ${limit})
        returning *`);
      return claimed.map(deliveryTable.read);
    },

    async hasExpired(now) {
      const row = await db.get<{ id: string }>(sql`
        select id from webhook_deliveries
        where status = 'sending' and lease_expires_at <= ${now} limit 1`);
      return row !== undefined;
    },

    releaseExpired: (now) =>
      db.run(sql`
        update webhook_deliveries
        set status = 'pending', lease_owner = null, lease_expires_at = null, next_try_at = ${now}
        where status = 'sending' and lease_expires_at <= ${now}`),

    async sendAgain(webhook, seqs, now) {
      if (seqs.length === 0) return 0;
      const list = sql.join(seqs.map((seq) => sql`${seq}`));
      return db.run(sql`
        update webhook_deliveries
        set status = 'pending', tries = 0, next_try_at = ${now}, ended_at = null
        where webhook_id = ${webhook} and notice_seq in (${list})
          and status in ('delivered', 'failed', 'blocked')`);
    },

    async forget(before, limit) {
      const removed = await db.run(sql`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries where created_at < ${before} limit ${limit})`);
      return removed === limit;
    },

    async purge(tenant, limit) {
      await db.run(sql`delete from webhooks where tenant_id = ${tenant}`);
      const removed = await db.run(sql`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries where tenant_id = ${tenant} limit ${limit})`);
      return removed < limit;
    },
  };
}
