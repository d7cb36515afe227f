import {
  type WebhookStatus,
  type WebhookType,
  organizationId,
  tenantId,
  webhookId,
} from '@convoke/contract';
import type { Webhook } from '../../domain/webhook/webhook.ts';
import type { WebhookRepository } from '../../ports/repositories/webhooks.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { labelsIn, labelsText } from './labels.ts';

export function webhookRepository(db: Transaction): WebhookRepository {
  return { ...rows(db), ...lists(db) };
}

type ListStatements = 'list' | 'count' | 'active' | 'due' | 'tryLockDue';

function rows(db: Transaction): Omit<WebhookRepository, ListStatements> {
  return {
    async insert(webhook) {
      await db.run(sql`
        insert into webhooks (
          id, organization_id, tenant_id, url, description, types, agent_names, status,
          status_reason, sealed_secret, secret_hint, previous_secret, previous_until, version,
          last_success_at, failing_since, failures_in_row, not_before, created_by, created_by_kind,
          created_at, updated_at, labels
        ) values (
          ${webhook.id}, ${webhook.organizationId}, ${webhook.tenantId}, ${webhook.url},
          ${webhook.description}, ${JSON.stringify(webhook.types)}, ${namesOf(webhook)},
          ${webhook.status}, ${webhook.statusReason}, ${webhook.sealedSecret},
          ${webhook.secretHint}, ${webhook.previousSecret}, ${webhook.previousUntil},
          ${webhook.version}, ${webhook.lastSuccessAt}, ${webhook.failingSince},
          ${webhook.failuresInRow}, ${webhook.notBefore}, ${webhook.createdBy.id},
          ${webhook.createdBy.kind}, ${webhook.createdAt}, ${webhook.updatedAt},
          ${labelsText(webhook.labels)}
        )`);
    },

    async find(scope, id) {
      const row = await db.get<WebhookRow>(
        sql`select * from webhooks where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && webhookOf(row);
    },

    async lock(scope, id) {
      const row = await db.get<WebhookRow>(sql`
        select * from webhooks where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdate}`);
      return row && webhookOf(row);
    },

    async save(webhook) {
      await db.run(sql`
        update webhooks set
          url = ${webhook.url}, description = ${webhook.description},
          types = ${JSON.stringify(webhook.types)}, agent_names = ${namesOf(webhook)},
          labels = ${labelsText(webhook.labels)},
          status = ${webhook.status}, status_reason = ${webhook.statusReason},
          sealed_secret = ${webhook.sealedSecret}, secret_hint = ${webhook.secretHint},
          previous_secret = ${webhook.previousSecret}, previous_until = ${webhook.previousUntil},
          version = ${webhook.version}, last_success_at = ${webhook.lastSuccessAt},
          failing_since = ${webhook.failingSince}, failures_in_row = ${webhook.failuresInRow},
          not_before = ${webhook.notBefore}, updated_at = ${webhook.updatedAt}
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
      const found = await db.all<WebhookRow>(
        sql`select * from webhooks where tenant_id = ${scope.tenantId} ${pageOf(page, 'id')}`,
      );
      return found.map(webhookOf);
    },

    async count(scope) {
      const row = await db.get<{ count: number }>(
        sql`select count(*) as count from webhooks where tenant_id = ${scope.tenantId}`,
      );
      return row?.count ?? 0;
    },

    async active(tenant) {
      const found = await db.all<WebhookRow>(sql`
        select * from webhooks where tenant_id = ${tenant} and status = 'active' order by id`);
      return found.map(webhookOf);
    },

    async due(now, after, limit) {
      const found = await db.all<Pick<WebhookRow, 'id' | 'tenant_id'>>(sql`
        select id, tenant_id from webhooks
        where status = 'active' and not_before <= ${now} and id > ${after ?? ''} and exists (
          select 1 from webhook_deliveries
          where webhook_id = webhooks.id and status = 'pending' and next_try_at <= ${now})
        order by id limit ${limit}`);
      return found.map((row) => ({ id: webhookId(row.id), tenantId: tenantId(row.tenant_id) }));
    },

    async tryLockDue(id, now) {
      const row = await db.get<WebhookRow>(sql`
        select * from webhooks
        where id = ${id} and status = 'active' and not_before <= ${now} ${sql.forUpdateSkipLocked}`);
      return row && webhookOf(row);
    },
  };
}

function namesOf({ agentNames }: Webhook): string | null {
  return agentNames === null ? null : JSON.stringify(agentNames);
}

interface WebhookRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  url: string;
  description: string | null;
  types: string;
  agent_names: string | null;
  labels: string | null;
  status: WebhookStatus;
  status_reason: string | null;
  sealed_secret: string;
  secret_hint: string;
  previous_secret: string | null;
  previous_until: number | null;
  version: number;
  last_success_at: number | null;
  failing_since: number | null;
  failures_in_row: number;
  not_before: number;
  created_by: string;
  created_by_kind: 'client' | 'user';
  created_at: number;
  updated_at: number;
}

function webhookOf(row: WebhookRow): Webhook {
  return {
    id: webhookId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    url: row.url,
    description: row.description,
    types: JSON.parse(row.types) as WebhookType[],
    agentNames: row.agent_names === null ? null : (JSON.parse(row.agent_names) as string[]),
    labels: labelsIn(row),
    status: row.status,
    statusReason: row.status_reason,
    sealedSecret: row.sealed_secret,
    secretHint: row.secret_hint,
    previousSecret: row.previous_secret,
    previousUntil: row.previous_until,
    version: row.version,
    lastSuccessAt: row.last_success_at,
    failingSince: row.failing_since,
    failuresInRow: row.failures_in_row,
    notBefore: row.not_before,
    createdBy: { kind: row.created_by_kind, id: row.created_by },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
