import {
  type AttachmentState,
  type SessionId,
  type TenantId,
  type TenantStatus,
  organizationId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import type { Tenant } from '../../domain/tenant.ts';
import type { TenantRepository } from '../../ports/repositories/tenants.ts';
import { pageOf } from '../page.ts';
import { budgetRepository } from './budgets.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function tenantRepository(db: Transaction): TenantRepository {
  return {
    ...records(db),
    async busySessions(tenant, limit) {
      const rows = await db.all<{ id: string; status: string }>(sql`
        select id, status from sessions
        where tenant_id = ${tenant} and status in ('running', 'waiting', 'stopping')
        order by case when status = 'stopping' then 1 else 0 end, id limit ${limit}`);
      return rows.map(({ id, status }) => ({
        id: sessionId(id),
        isStopping: status === 'stopping',
      }));
    },
    async anySession(tenant) {
      const row = await db.get<{ id: string }>(
        sql`select id from sessions where tenant_id = ${tenant} order by id limit 1`,
      );
      return row && sessionId(row.id);
    },
    purgeSession: (tenant, session, limit) => purgeSession(db, { tenant, session, limit }),
    async purgeKeys(tenant, limit) {
      // Its keys start with the tenant and a colon (`app/once.ts`); the character after the colon is a semicolon.
      const removed = await db.run(sql`
        delete from idempotency_keys where (scope, key) in (
          select scope, key from idempotency_keys
          where scope >= ${`${tenant}:`} and scope < ${`${tenant};`} and tenant_id = ${tenant}
          limit ${limit})`);
      return removed < limit;
    },
  };
}

function records(
  db: Transaction,
): Omit<TenantRepository, 'busySessions' | 'anySession' | 'purgeSession' | 'purgeKeys'> {
  return {
    async insert(tenant) {
      await db.run(sql`
        insert into tenants (id, organization_id, display_name, mode, status, attachment_state,
          status_reason, step, created_at, updated_at)
        values (${tenant.id}, ${tenant.organizationId}, ${tenant.displayName}, ${tenant.mode},
          ${tenant.status}, ${tenant.attachmentState}, ${tenant.statusReason}, ${tenant.step},
          ${tenant.createdAt}, ${tenant.updatedAt})`);
    },
    async find(organization, id) {
      const row = await db.get<TenantRow>(sql`
        select ${columns} from tenants where id = ${id} and organization_id = ${organization}`);
      return row && toTenant(row);
    },
    async lock(organization, id) {
      const row = await db.get<TenantRow>(sql`
        select ${columns} from tenants where id = ${id} and organization_id = ${organization}
        ${sql.forUpdate}`);
      return row && toTenant(row);
    },
    async isUsable(scope) {
      const row = await db.get<{ id: string }>(sql`
        select id from tenants
        where id = ${scope.tenantId} and organization_id = ${scope.organizationId}
          and status = 'active' and attachment_state = 'ready' ${sql.forShare}`);
      return row !== undefined;
    },
    async save(next, seen) {
      const changed = await db.run(sql`
        update tenants set display_name = ${next.displayName}, status = ${next.status},
          attachment_state = ${next.attachmentState}, status_reason = ${next.statusReason},
          step = ${next.step}, updated_at = ${next.updatedAt}
        where id = ${seen.id} and organization_id = ${seen.organizationId}
          and status = ${seen.status} and coalesce(step, '') = ${seen.step ?? ''}`);
      return changed === 1;
    },
    async list(organization, page) {
      const rows = await db.all<TenantRow>(sql`
        select ${columns} from tenants
        where organization_id = ${organization} ${pageOf(page, 'id')}`);
      return rows.map(toTenant);
    },
    async usable(organization, limit) {
      const rows = await db.all<TenantRow>(sql`
        select ${columns} from tenants
        where organization_id = ${organization} and status = 'active'
          and attachment_state = 'ready'
        order by id limit ${limit}`);
      return rows.map(toTenant);
    },
    async reachable({ organizationIds, tenantIds }, page) {
      const bound = tenantIds === null ? sql`` : sql`and id in (${listOf(tenantIds)})`;
      const rows = await db.all<TenantRow & { organization_name: string }>(sql`
        select ${columns},
          (select name from organizations where organizations.id = tenants.organization_id)
            as organization_name
        from tenants
        where organization_id in (${listOf(organizationIds)}) and status = 'active'
          and attachment_state = 'ready' ${bound} ${pageOf(page, 'id')}`);
      return rows.map((row) => ({
        tenant: toTenant(row),
        organizationName: row.organization_name,
      }));
    },
    async bindable(organization, ids) {
      const rows = await db.all<{ id: string }>(sql`
        select id from tenants where id in (${listOf(ids)}) and organization_id = ${organization}
          and status not in ('offboarding', 'offboarded')`);
      return rows.map((row) => tenantId(row.id));
    },
    async countLive(organization) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from tenants
        where organization_id = ${organization} and status not in ('offboarding', 'offboarded')`);
      return row?.count ?? 0;
    },
    async offboarded(ids) {
      if (ids.length === 0) return [];
      const rows = await db.all<{ id: string }>(sql`
        select id from tenants
        where id in (${listOf(ids)}) and status = 'offboarded'`);
      return rows.map((row) => tenantId(row.id));
    },
    async inStatus(status, limit) {
      // The partial index holds only tenants in transition; its few rows are sorted here.
      const rows = await db.all<TenantRow>(sql`
        select ${columns} from tenants
        where status in ('provisioning', 'offboarding') and status = ${status}
        order by updated_at, id limit ${limit}`);
      return rows.map(toTenant);
    },
  };
}

function listOf(ids: readonly string[]): Statement {
  return sql.join(ids.map((id) => sql`${id}`));
}

interface Purge {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly limit: number;
}

/** Deletes run by run, events first, so that no statement deletes more rows than its limit. */
async function purgeSession(db: Transaction, { tenant, session, limit }: Purge): Promise<boolean> {
  let budget = limit;
  while (budget > 0) {
    const run = await db.get<{ id: string }>(sql`
      select id from runs where session_id = ${session} and tenant_id = ${tenant}
      order by number limit 1`);
    if (run === undefined) return await purgeRest(db, { tenant, session, limit: budget });
    const events = await db.run(sql`
      delete from run_events where run_id = ${run.id} and tenant_id = ${tenant} and seq in (
        select seq from run_events where run_id = ${run.id} order by seq limit ${budget})`);
    budget -= events + 1;
    if (budget <= 0) return false;
    await db.run(sql`delete from interactions where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from tool_calls where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from usage_entries where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from labels where owner_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from runs where id = ${run.id} and tenant_id = ${tenant}`);
  }
  return false;
}

async function purgeRest(db: Transaction, { tenant, session, limit }: Purge): Promise<boolean> {
  const files = await db.run(sql`
    delete from files where id in (
      select id from files where session_id = ${session} and tenant_id = ${tenant} limit ${limit})`);
  if (files >= limit) return false;
  await db.run(sql`delete from labels where owner_id = ${session} and tenant_id = ${tenant}`);
  await budgetRepository(db).purge({ sessionId: session });
  await db.run(sql`delete from session_states where session_id = ${session}`);
  await db.run(sql`delete from sessions where id = ${session} and tenant_id = ${tenant}`);
  return true;
}

const columns = sql`id, organization_id, display_name, mode, status, attachment_state,
  status_reason, step, created_at, updated_at`;

interface TenantRow {
  id: string;
  organization_id: string;
  display_name: string;
  mode: string;
  status: TenantStatus;
  attachment_state: AttachmentState;
  status_reason: string | null;
  step: string | null;
  created_at: number;
  updated_at: number;
}

function toTenant(row: TenantRow): Tenant {
  return {
    id: tenantId(row.id),
    organizationId: organizationId(row.organization_id),
    displayName: row.display_name,
    mode: row.mode,
    status: row.status,
    attachmentState: row.attachment_state,
    statusReason: row.status_reason,
    step: row.step,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
