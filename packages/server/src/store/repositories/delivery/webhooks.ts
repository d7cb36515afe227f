import { type WebhookType, tenantId, webhookId } from '@convoke/contract';
import type { Webhook } from '../../../domain/webhook/webhook.ts';
import type { WebhookRepository } from '../../../ports/repositories/delivery/webhooks.ts';
import { type NounRow, jsonText, made, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { creator } from '../creator.ts';
import { labelsIn, labelsText } from '../runs/labels.ts';

/** The columns of a webhook: a new field of a webhook is one line here. */
const webhookTable = nounTable<Webhook>('webhooks', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    url: text('url'),
    description: text('description'),
    types: made({ types: { kind: 'text', write: ({ types }) => JSON.stringify(types) } },
      (row: { types: string }) => JSON.parse(row.types) as WebhookType[]),
    agentNames: jsonText('agent_names'),
    labels: made({ labels: { kind: 'text', write: ({ labels }) => labelsText(labels) } }, labelsIn),
    status: text('status'),
    statusReason: text('status_reason'),
    sealedSecret: text('sealed_secret'),
    secretHint: text('secret_hint'),
    previousSecret: text('previous_secret'),
    previousUntil: number('previous_until'),
    version: number('version'),
    lastSuccessAt: number('last_success_at'),
    failingSince: number('failing_since'),
    failuresInRow: number('failures_in_row'),
    notBefore: number('not_before'),
    createdBy: creator('fixed'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
  },
});

export function webhookRepository(db: Transaction): WebhookRepository {
  return { ...rows(db), ...lists(db) };
}

type ListStatements = 'list' | 'count' | 'active' | 'due' | 'tryLockDue';

function rows(db: Transaction): Omit<WebhookRepository, ListStatements> {
  return {
    async insert(webhook) {
      await db.run(webhookTable.insert(webhook));
    },

    async find(scope, id) {
      const row = await db.get<NounRow>(
        sql`select * from webhooks where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && webhookTable.read(row);
    },

    async lock(scope, id) {
      const row = await db.get<NounRow>(sql`
        select * from webhooks where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdate}`);
      return row && webhookTable.read(row);
    },

    async save(webhook) {
      await db.run(sql`
        update webhooks set ${webhookTable.assignments(webhook)}
        where id = ${webhook.id} and tenant_id = ${webhook.tenantId}`);
    },

    async remove(scope, id) {
      const removed = await db.run(
        sql`delete from webhooks where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return removed === 1;
    },
  };
}

function lists(db: Transaction): Pick<WebhookRepository, ListStatements> {
  return {
    async list(scope, page) {
      const found = await db.all<NounRow>(
        sql`select * from webhooks where tenant_id = ${scope.tenantId} ${pageOf(page, 'id')}`,
      );
      return found.map(webhookTable.read);
    },

    async count(scope) {
      const row = await db.get<{ count: number }>(
        sql`select count(*) as count from webhooks where tenant_id = ${scope.tenantId}`,
      );
      return row?.count ?? 0;
    },

    async active(tenant) {
      const found = await db.all<NounRow>(sql`
        select * from webhooks where tenant_id = ${tenant} and status = 'active' order by id`);
      return found.map(webhookTable.read);
    },

    async due(now, after, limit) {
      const found = await db.all<{ id: string; tenant_id: string }>(sql`
        select id, tenant_id from webhooks
        where status = 'active' and not_before <= ${now} and id > ${after ?? ''} and exists (
          select 1 from webhook_deliveries
          where webhook_id = webhooks.id and status = 'pending' and next_try_at <= ${now})
        order by id limit ${limit}`);
      return found.map((row) => ({ id: webhookId(row.id), tenantId: tenantId(row.tenant_id) }));
    },

    async tryLockDue(id, now) {
      const row = await db.get<NounRow>(sql`
        select * from webhooks
        where id = ${id} and status = 'active' and not_before <= ${now} ${sql.forUpdateSkipLocked}`);
      return row && webhookTable.read(row);
    },
  };
}
