import {
  type AttachmentState,
  type ClientStatus,
  type Profile,
  type Scope,
  type TenantStatus,
  clientId,
  isScope,
  organizationId,
  tenantId,
} from '@convoke/contract';
import type { Reach } from '../../../domain/access.ts';
import type { Client } from '../../../domain/client.ts';
import type { ClientRepository } from '../../../ports/repositories/identity/clients.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import { type NounRow, made, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a client: a new field of a client is one line here. */
const clientTable = nounTable<Client>('clients', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    oauthClientId: text('client_id', 'fixed'),
    name: text('name'),
    description: text('description'),
    profile: text('profile'),
    scopes: made({ scopes: { kind: 'text', write: ({ scopes }) => scopes.join(' ') } }, scopesIn),
    tenantIds: made({ tenant_ids: { kind: 'text', write: (client) => client.tenantIds?.join(' ') ?? null, written: 'fixed' } },
      tenantIdsIn),
    status: text('status'),
    version: number('version'),
    createdBy: text('created_by', 'fixed'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
    deletedAt: number('deleted_at'),
    notBefore: number('not_before'),
  },
});
const { columns } = clientTable;

export function clientRepository(db: Transaction): ClientRepository {
  return {
    async insert(client) {
      await db.run(clientTable.insert(client));
    },
    async find(organization, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from clients
        where id = ${id} and organization_id = ${organization} and deleted_at is null`);
      return row && clientTable.read(row);
    },
    async findEver(organization, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from clients where id = ${id} and organization_id = ${organization}`);
      return row && clientTable.read(row);
    },
    async lock(organization, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from clients
        where id = ${id} and organization_id = ${organization} and deleted_at is null
        ${sql.forUpdate}`);
      return row && clientTable.read(row);
    },
    async findByOAuthId(oauthClientId) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from clients
        where client_id = ${oauthClientId} and deleted_at is null`);
      return row && clientTable.read(row);
    },
    async reach(oauthClientId, tenant) {
      // Runs on every application request: few columns, and no nested statements, so that the prepared statement is
      // found without interning.
      const row = await db.get<ReachRow>(sql`
        select c.id, c.organization_id, c.profile, c.scopes, c.tenant_ids, c.status, c.not_before,
          t.id as tenant_id, t.status as tenant_status, t.attachment_state
        from clients c
        left join tenants t on t.id = ${tenant} and t.organization_id = c.organization_id
        where c.client_id = ${oauthClientId} and c.deleted_at is null`);
      return row && toReach(row, oauthClientId);
    },
    async reachWith(credential, oauthClientId, tenant) {
      const row = await db.get<ReachRow & { revoked_at: number | null }>(sql`
        select c.id, c.organization_id, c.profile, c.scopes, c.tenant_ids, c.status, c.not_before,
          t.id as tenant_id, t.status as tenant_status, t.attachment_state, k.revoked_at
        from clients c
        join credentials k on k.id = ${credential} and k.client_record_id = c.id
        left join tenants t on t.id = ${tenant} and t.organization_id = c.organization_id
        where c.client_id = ${oauthClientId} and c.deleted_at is null`);
      return row && { ...toReach(row, oauthClientId), revokedAt: row.revoked_at };
    },
    async reachById(id, tenant) {
      const row = await db.get<ReachRow & { client_id: string }>(sql`
        select c.id, c.client_id, c.organization_id, c.profile, c.scopes, c.tenant_ids, c.status,
          c.not_before, t.id as tenant_id, t.status as tenant_status, t.attachment_state
        from clients c
        left join tenants t on t.id = ${tenant} and t.organization_id = c.organization_id
        where c.id = ${id} and c.deleted_at is null`);
      return row && toReach(row, row.client_id);
    },
    async save(next, seen) {
      const changed = await db.run(sql`
        update clients set ${clientTable.assignments(next)}
        where id = ${seen.id} and organization_id = ${seen.organizationId}
          and version = ${seen.version} and deleted_at is null`);
      return changed === 1;
    },
    async list(organization, page) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from clients
        where organization_id = ${organization} and deleted_at is null ${pageOf(page, 'id')}`);
      return rows.map(clientTable.read);
    },
    async names(ids) {
      if (ids.length === 0) return new Map();
      const wanted = sql.join(ids.map((id) => sql`${id}`));
      const rows = await db.all<{ id: string; name: string }>(
        sql`select id, name from clients where id in (${wanted})`,
      );
      return new Map(rows.map(({ id, name }) => [clientId(id), name]));
    },
    async countLive(organization) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from clients
        where organization_id = ${organization} and deleted_at is null`);
      return row?.count ?? 0;
    },
    async countUnbound(organization) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from clients
        where organization_id = ${organization} and deleted_at is null and tenant_ids is null`);
      return row?.count ?? 0;
    },
  };
}

interface ReachColumns {
  readonly id: string;
  readonly organization_id: string;
  readonly profile: Profile;
  readonly scopes: string;
  readonly tenant_ids: string | null;
  readonly status: ClientStatus;
  readonly not_before: number;
}

type ReachRow = ReachColumns &
  (
    | { tenant_id: null }
    | { tenant_id: string; tenant_status: TenantStatus; attachment_state: AttachmentState }
  );

function toReach(row: ReachRow, oauthClientId: string): Reach {
  const client = {
    id: clientId(row.id),
    organizationId: organizationId(row.organization_id),
    oauthClientId,
    profile: row.profile,
    scopes: scopesIn(row),
    tenantIds: tenantIdsIn(row),
    status: row.status,
    notBefore: row.not_before,
  };
  if (row.tenant_id === null) return { client };
  const { tenant_id: id, tenant_status: status, attachment_state: attachmentState } = row;
  return { client, tenant: { id: tenantId(id), status, attachmentState } };
}

function tenantIdsIn({ tenant_ids: ids }: Pick<ReachColumns, 'tenant_ids'>) {
  return ids === null ? null : ids.split(' ').map(tenantId);
}

/** A scope that the catalog no longer knows grants nothing. Read on every request, so each text is read once. */
function scopesIn({ scopes: text }: Pick<ReachColumns, 'scopes'>): readonly Scope[] {
  const known = scopesByText.get(text);
  if (known !== undefined) return known;
  const scopes = text.split(' ').filter(isScope);
  scopesByText.set(text, scopes);
  return scopes;
}

const textsMax = 100;
const scopesByText = new BoundedMap<string, readonly Scope[]>(textsMax);
