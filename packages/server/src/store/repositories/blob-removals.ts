import { fileId, idPrefixes, sessionId, tenantId } from '@convoke/contract';
import type { BlobRemoval } from '../../domain/blob-removal.ts';
import type { BlobRemovalRepository } from '../../ports/repositories/blob-removals.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function blobRemovalRepository(db: Transaction): BlobRemovalRepository {
  return {
    async schedule(removal, dueAt) {
      await db.run(sql`
        insert into blob_removals (tenant_id, owner_id, sha256, due_at)
        values (${removal.tenantId}, ${removal.ownerId}, ${removal.sha256}, ${dueAt})
        on conflict (tenant_id, owner_id, sha256) do update set due_at = excluded.due_at
        where blob_removals.claimed = 0`);
    },

    async keep(removal) {
      const removed = await db.run(sql`
        delete from blob_removals where ${isRow(removal)} and claimed = 0`);
      return removed === 1;
    },

    async due(now, limit) {
      const rows = await db.all<RemovalRow>(sql`
        select tenant_id, owner_id, sha256 from blob_removals where due_at <= ${now}
        order by due_at, owner_id limit ${limit}`);
      return rows.map(removalOf);
    },

    async claim(removal, { now, until }) {
      await db.run(sql`
        delete from blob_removals
        where ${isRow(removal)} and claimed = 0 and due_at <= ${now} and ${isNamed(removal)}`);
      const claimed = await db.run(sql`
        update blob_removals set claimed = 1, due_at = ${until}
        where ${isRow(removal)} and due_at <= ${now}`);
      return claimed === 1;
    },

    async remove(removal) {
      await db.run(sql`delete from blob_removals where ${isRow(removal)}`);
    },

    async purge(tenant, limit) {
      const removed = await db.run(sql`
        delete from blob_removals where (tenant_id, owner_id, sha256) in (
          select tenant_id, owner_id, sha256 from blob_removals
          where tenant_id = ${tenant} limit ${limit})`);
      return removed < limit;
    },
  };
}

function isRow({ tenantId: tenant, ownerId, sha256 }: BlobRemoval): Statement {
  return sql`tenant_id = ${tenant} and owner_id = ${ownerId} and sha256 = ${sha256}`;
}

/** Whether a file or a session has these bytes. An owner that was deleted has none. */
function isNamed({ tenantId: tenant, ownerId, sha256 }: BlobRemoval): Statement {
  return sql`(
    exists (select 1 from files where id = ${ownerId} and tenant_id = ${tenant}
      and (${sha256} = '' or (status = 'ready' and files.sha256 = ${sha256})))
    or exists (select 1 from session_states where session_id = ${ownerId} and snapshot = ${sha256}))`;
}

interface RemovalRow {
  tenant_id: string;
  owner_id: string;
  sha256: string;
}

function removalOf({ tenant_id: tenant, owner_id: owner, sha256 }: RemovalRow): BlobRemoval {
  const isFile = owner.startsWith(`${idPrefixes.file}_`);
  const ownerId = isFile ? fileId(owner) : sessionId(owner);
  return { tenantId: tenantId(tenant), ownerId, sha256 };
}
