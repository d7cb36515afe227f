import { type DeliveryStatus, deliveryId, tenantId, webhookId } from '@convoke/contract';
import type { Delivery } from '../../domain/webhook/webhook-delivery.ts';
import type { DeliveryRepository } from '../../ports/repositories/webhooks.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

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
        const values = deliveries.slice(at, at + rowsPerStatement).map(
          (delivery) => sql`(${delivery.id}, ${delivery.webhookId}, ${delivery.tenantId},
            ${delivery.noticeSeq}, ${delivery.type}, ${delivery.testBody}, ${delivery.status},
            ${delivery.tries}, ${delivery.nextTryAt}, ${delivery.createdAt})`,
        );
        await db.run(sql`
          insert into webhook_deliveries (id, webhook_id, tenant_id, notice_seq, type, test_body,
            status, tries, next_try_at, created_at)
          values ${sql.join(values)} on conflict do nothing`);
      }
    },

    async find(scope, webhook, id) {
      const row = await db.get<DeliveryRow>(sql`
        select * from webhook_deliveries
        where id = ${id} and webhook_id = ${webhook} and tenant_id = ${scope.tenantId}`);
      return row && deliveryOf(row);
    },

    async list(scope, { webhookId: webhook, status }, page) {
      const isWanted = status === undefined ? sql`` : sql`and status = ${status}`;
      const found = await db.all<DeliveryRow>(sql`
        select * from webhook_deliveries
        where webhook_id = ${webhook} and tenant_id = ${scope.tenantId} ${isWanted}
          ${pageOf(page, 'id')}`);
      return found.map(deliveryOf);
    },

    async save(delivery) {
      await db.run(sql`
        update webhook_deliveries set
          status = ${delivery.status}, tries = ${delivery.tries},
          next_try_at = ${delivery.nextTryAt}, lease_owner = ${delivery.leaseOwner},
          lease_expires_at = ${delivery.leaseExpiresAt},
          response_status = ${delivery.responseStatus},
          response_excerpt = ${delivery.responseExcerpt}, error = ${delivery.error},
          ended_at = ${delivery.endedAt}
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
      const claimed = await db.all<DeliveryRow>(sql`
        update webhook_deliveries
        set status = 'sending', lease_owner = ${owner}, lease_expires_at = ${expiresAt}
        where id in (
          select id from webhook_deliveries
          where webhook_id = ${webhook} and status = 'pending' and next_try_at <= ${now}
          order by next_try_at, id limit ${limit})
        returning *`);
      return claimed.map(deliveryOf);
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

interface DeliveryRow {
  id: string;
  webhook_id: string;
  tenant_id: string;
  notice_seq: number | null;
  type: string;
  test_body: string | null;
  status: DeliveryStatus;
  tries: number;
  next_try_at: number;
  lease_owner: string | null;
  lease_expires_at: number | null;
  response_status: number | null;
  response_excerpt: string | null;
  error: string | null;
  created_at: number;
  ended_at: number | null;
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: deliveryId(row.id),
    webhookId: webhookId(row.webhook_id),
    tenantId: tenantId(row.tenant_id),
    noticeSeq: row.notice_seq,
    type: row.type,
    testBody: row.test_body,
    status: row.status,
    tries: row.tries,
    nextTryAt: row.next_try_at,
    leaseOwner: row.lease_owner,
    leaseExpiresAt: row.lease_expires_at,
    responseStatus: row.response_status,
    responseExcerpt: row.response_excerpt,
    error: row.error,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}
