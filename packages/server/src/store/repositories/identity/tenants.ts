import { type SessionId, type TenantId, sessionId, tenantId } from '@convoke/contract';
import type { Tenant } from '../../../domain/tenant.ts';
import type { TenantRepository } from '../../../ports/repositories/identity/tenants.ts';
import { type NounRow, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import { budgetRepository } from '../usage/budgets.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a tenant: a new field of a tenant is one line here. */
const tenantTable = nounTable<Tenant>('tenants', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    displayName: text('display_name'),
    mode: text('mode', 'fixed'),
    status: text('status'),
    attachmentState: text('attachment_state'),
    statusReason: text('status_reason'),
    step: text('step'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
  },
});
const { columns } = tenantTable;

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
      await db.run(tenantTable.insert(tenant));
    },
    async find(organization, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from tenants where id = ${id} and organization_id = ${organization}`);
      return row && tenantTable.read(row);
    },
    async lock(organization, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from tenants where id = ${id} and organization_id = ${organization}
        ${sql.forUpdate}`);
      return row && tenantTable.read(row);
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
        update tenants set ${tenantTable.assignments(next)}
        where id = ${seen.id} and organization_id = ${seen.organizationId}
          and status = ${seen.status} and coalesce(step, '') = ${seen.step ?? ''}`);
      return changed === 1;
    },
    async list(organization, page) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from tenants
        where organization_id = ${organization} ${pageOf(page, 'id')}`);
      return rows.map(tenantTable.read);
    },
    async usable(organization, limit) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from tenants
        where organization_id = ${organization} and status = 'active'
          and attachment_state = 'ready'
        order by id limit ${limit}`);
      return rows.map(tenantTable.read);
    },
    async reachable({ organizationIds, tenantIds }, page) {
      const bound = tenantIds === null ? sql`` : sql`and id in (${listOf(tenantIds)})`;
      const rows = await db.all<NounRow & { organization_name: string }>(sql`
        select ${columns},
          (select name from organizations where organizations.id = tenants.organization_id)
            as organization_name
        from tenants
        where organization_id in (${listOf(organizationIds)}) and status = 'active'
          and attachment_state = 'ready' ${bound} ${pageOf(page, 'id')}`);
      return rows.map((row) => ({
        tenant: tenantTable.read(row),
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
      const rows = await db.all<NounRow>(sql`
        select ${columns} from tenants
        where status in ('provisioning', 'offboarding') and status = ${status}
        order by updated_at, id limit ${limit}`);
      return rows.map(tenantTable.read);
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

/**
 * Deletes run by run, events first, so that no statement deletes more rows than its limit. The lock lets no request add
 * feedback to a run between the deletion of its feedback and its own.
 */
async function purgeSession(db: Transaction, { tenant, session, limit }: Purge): Promise<boolean> {
  let budget = limit;
  while (budget > 0) {
    const run = await db.get<{ id: string }>(sql`
      select id from runs where session_id = ${session} and tenant_id = ${tenant}
      order by number limit 1 ${sql.forUpdate}`);
    if (run === undefined) return await purgeRest(db, { tenant, session, limit: budget });
    const events = await db.run(sql`
      delete from run_events where run_id = ${run.id} and tenant_id = ${tenant} and seq in (
        select seq from run_events where run_id = ${run.id} order by seq limit ${budget})`);
    budget -= events + 1;
    if (budget <= 0) return false;
    await db.run(sql`delete from interactions where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from waits where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from tool_calls where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from usage_entries where run_id = ${run.id} and tenant_id = ${tenant}`);
    await db.run(sql`delete from feedback where run_id = ${run.id} and tenant_id = ${tenant}`);
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
