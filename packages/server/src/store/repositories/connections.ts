import type { Connection, ShownAuth } from '../../domain/connections/connection.ts';
import type { ConnectionRepository } from '../../ports/repositories/connections.ts';
import { type NounRow, made, nounTable, number, text } from '../columns.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { creator } from './creator.ts';

/** The columns of a connection: a new field of a connection is one line here. */
const connectionTable = nounTable<Connection>('connections', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    service: text('service', 'fixed'),
    endUser: made({ end_user: { kind: 'text', write: ({ endUser }) => endUser ?? ofTenant, written: 'fixed' } },
      (row: { end_user: string }) => (row.end_user === ofTenant ? null : row.end_user)),
    auth: made({ auth: { kind: 'text', write: ({ auth }) => JSON.stringify(auth) } },
      (row: { auth: string }) => JSON.parse(row.auth) as ShownAuth),
    sealed: text('sealed'),
    status: text('status'),
    statusReason: text('status_reason'),
    version: number('version'),
    expiresAt: number('expires_at'),
    refreshEpoch: number('refresh_epoch'),
    refreshingUntil: number('refreshing_until'),
    retryAt: number('retry_at'),
    lastUsedAt: number('last_used_at'),
    createdBy: creator('fixed'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
  },
});

/** Stands for the tenant as the owner: no end user has an empty name, and a unique index does not compare nulls. */
const ofTenant = '';

export function connectionRepository(db: Transaction): ConnectionRepository {
  const { columns } = connectionTable;
  return {
    async insert(connection) {
      await db.run(connectionTable.insert(connection));
    },

    async find({ tenantId }, { service, endUser }) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from connections
        where tenant_id = ${tenantId} and service = ${service} and end_user = ${endUser ?? ofTenant}`);
      return row && connectionTable.read(row);
    },

    async lock({ tenantId }, { service, endUser }) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from connections
        where tenant_id = ${tenantId} and service = ${service} and end_user = ${endUser ?? ofTenant}
        ${sql.forUpdate}`);
      return row && connectionTable.read(row);
    },

    async save(connection) {
      await db.run(sql`
        update connections set ${connectionTable.assignments(connection)}
        where id = ${connection.id} and tenant_id = ${connection.tenantId}`);
    },

    async saveUse({ tenantId, id, version }, now) {
      await db.run(sql`
        update connections set last_used_at = ${now}
        where id = ${id} and tenant_id = ${tenantId} and version = ${version}`);
    },

    async remove({ tenantId, id }) {
      await db.run(sql`delete from connections where id = ${id} and tenant_id = ${tenantId}`);
    },

    async list({ tenantId }, { service, endUser, status }, page) {
      const ofService = service === undefined ? sql`` : sql`and service = ${service}`;
      const ofEndUser = endUser === undefined ? sql`` : sql`and end_user = ${endUser}`;
      const inStatus = status === undefined ? sql`` : sql`and status = ${status}`;
      const rows = await db.all<NounRow>(sql`
        select ${columns} from connections
        where tenant_id = ${tenantId} ${ofService} ${ofEndUser} ${inStatus} ${pageOf(page, 'id')}`);
      return rows.map(connectionTable.read);
    },

    async count({ tenantId }) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from connections where tenant_id = ${tenantId}`);
      return row?.count ?? 0;
    },

    async purge(tenantId, limit) {
      const removed = await db.run(sql`
        delete from connections where id in (
          select id from connections where tenant_id = ${tenantId} limit ${limit})`);
      return removed < limit;
    },
  };
}
