import {
  type AttachmentState,
  type ClientStatus,
  type Profile,
  type Scope,
  type TenantId,
  type TenantStatus,
  clientId,
  isScope,
  organizationId,
  tenantId,
} from '@convoke/contract';
import type { Reach } from '../../domain/access.ts';
import type { Client } from '../../domain/client.ts';
import type { ClientRepository } from '../../ports/repositories/clients.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function clientRepository(db: Transaction): ClientRepository {
  return {
    async insert(client) {
      await db.run(sql`
        insert into clients (id, organization_id, client_id, name, description, profile, scopes,
          tenant_ids, status, version, created_by, created_at, updated_at, deleted_at, not_before)
        values (${client.id}, ${client.organizationId}, ${client.oauthClientId}, ${client.name},
          ${client.description}, ${client.profile}, ${client.scopes.join(' ')},
          ${client.tenantIds?.join(' ') ?? null}, ${client.status}, ${client.version}, ${client.createdBy}, ${client.createdAt}, ${client.updatedAt},
          ${client.deletedAt}, ${client.notBefore})`);
    },
    async find(organization, id) {
      const row = await db.get<ClientRow>(sql`
        select ${columns} from clients
        where id = ${id} and organization_id = ${organization} and deleted_at is null`);
      return row && toClient(row);
    },
    async findEver(organization, id) {
      const row = await db.get<ClientRow>(sql`
        select ${columns} from clients where id = ${id} and organization_id = ${organization}`);
      return row && toClient(row);
    },
    async lock(organization, id) {
      const row = await db.get<ClientRow>(sql`
        select ${columns} from clients
        where id = ${id} and organization_id = ${organization} and deleted_at is null
        ${sql.forUpdate}`);
      return row && toClient(row);
    },
    async findByOAuthId(oauthClientId) {
      const row = await db.get<ClientRow>(sql`
        select ${columns} from clients
        where client_id = ${oauthClientId} and deleted_at is null`);
      return row && toClient(row);
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
        update clients set name = ${next.name}, description = ${next.description},
          profile = ${next.profile}, scopes = ${next.scopes.join(' ')}, status = ${next.status},
          version = ${next.version}, updated_at = ${next.updatedAt}, deleted_at = ${next.deletedAt},
          not_before = ${next.notBefore}
        where id = ${seen.id} and organization_id = ${seen.organizationId}
          and version = ${seen.version} and deleted_at is null`);
      return changed === 1;
    },
    async list(organization, page) {
      const rows = await db.all<ClientRow>(sql`
        select ${columns} from clients
        where organization_id = ${organization} and deleted_at is null ${pageOf(page, 'id')}`);
      return rows.map(toClient);
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

const columns = sql`id, organization_id, client_id, name, description, profile, scopes, tenant_ids,
  status, version, created_by, created_at, updated_at, deleted_at, not_before`;

interface ClientRow {
  id: string;
  organization_id: string;
  client_id: string;
  name: string;
  description: string | null;
  profile: Profile;
  scopes: string;
  tenant_ids: string | null;
  status: ClientStatus;
  version: number;
  created_by: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  not_before: number;
}

type ReachRow = Pick<
  ClientRow,
  'id' | 'organization_id' | 'profile' | 'scopes' | 'tenant_ids' | 'status' | 'not_before'
> &
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
    scopes: toScopes(row.scopes),
    tenantIds: toTenantIds(row.tenant_ids),
    status: row.status,
    notBefore: row.not_before,
  };
  if (row.tenant_id === null) return { client };
  const { tenant_id: id, tenant_status: status, attachment_state: attachmentState } = row;
  return { client, tenant: { id: tenantId(id), status, attachmentState } };
}

function toClient(row: ClientRow): Client {
  return {
    id: clientId(row.id),
    organizationId: organizationId(row.organization_id),
    oauthClientId: row.client_id,
    name: row.name,
    description: row.description,
    profile: row.profile,
    scopes: toScopes(row.scopes),
    tenantIds: toTenantIds(row.tenant_ids),
    status: row.status,
    version: row.version,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
    notBefore: row.not_before,
  };
}

function toTenantIds(text: string | null): readonly TenantId[] | null {
  return text === null ? null : text.split(' ').map(tenantId);
}

/** A scope that the catalog no longer knows grants nothing. Read on every request, so each text is read once. */
function toScopes(text: string): readonly Scope[] {
  const known = scopesByText.get(text);
  if (known !== undefined) return known;
  const scopes = text.split(' ').filter(isScope);
  scopesByText.set(text, scopes);
  return scopes;
}

const textsMax = 100;
const scopesByText = new BoundedMap<string, readonly Scope[]>(textsMax);
