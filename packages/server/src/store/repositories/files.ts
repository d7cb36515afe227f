import { type FileStatus, fileId, organizationId, sessionId, tenantId } from '@convoke/contract';
import { type File, type ReadyFile, fileLeastBytes } from '../../domain/file.ts';
import type { FileRepository } from '../../ports/repositories/files.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function fileRepository(db: Transaction): FileRepository {
  return {
    async insert(file) {
      await db.run(sql`
        insert into files (
          id, organization_id, tenant_id, session_id, name, content_type, size_bytes, sha256, status,
          created_at
        ) values (
          ${file.id}, ${file.organizationId}, ${file.tenantId}, ${file.sessionId}, ${file.name},
          ${file.contentType}, ${file.sizeBytes}, ${file.sha256}, ${file.status}, ${file.createdAt}
        )`);
    },

    async find(scope, session, id) {
      const row = await db.get<FileRow>(sql`
        select * from files
        where id = ${id} and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && fileOf(row);
    },

    async complete(file) {
      const changed = await db.run(sql`
        update files set status = 'ready', size_bytes = ${file.sizeBytes}, sha256 = ${file.sha256}
        where id = ${file.id} and tenant_id = ${file.tenantId} and status = 'pending'`);
      return changed === 1;
    },

    async remove(scope, session, id) {
      const changed = await db.run(sql`
        delete from files
        where id = ${id} and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return changed === 1;
    },

    async list(scope, session, page) {
      const rows = await db.all<FileRow>(sql`
        select * from files
        where session_id = ${session} and tenant_id = ${scope.tenantId} ${pageOf(page, 'id')}`);
      return rows.map(fileOf);
    },

    async ready(session, limit) {
      const rows = await db.all<FileRow>(sql`
        select * from files where session_id = ${session} and status = 'ready'
        order by id limit ${limit}`);
      return rows.map(readyFileOf);
    },

    async isReady(session, id) {
      const row = await db.get<{ id: string }>(sql`
        select id from files where id = ${id} and session_id = ${session} and status = 'ready'`);
      return row !== undefined;
    },

    async count(session) {
      const row = await db.get<{ n: number }>(
        sql`select count(*) as n from files where session_id = ${session}`,
      );
      return row?.n ?? 0;
    },

    async storedBytes(tenant) {
      const row = await db.get<{ n: number }>(sql`
        select cast(coalesce(sum(case when size_bytes > ${fileLeastBytes} then size_bytes
          else ${fileLeastBytes} end), 0) as bigint) as n
        from files where tenant_id = ${tenant}`);
      return row?.n ?? 0;
    },
  };
}

interface FileRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  session_id: string;
  name: string;
  content_type: string;
  size_bytes: number | null;
  sha256: string | null;
  status: FileStatus;
  created_at: number;
}

function fileOf(row: FileRow): File {
  if (row.status === 'ready') return readyFileOf(row);
  const { size_bytes: sizeBytes, sha256 } = row;
  return { ...identityOf(row), status: 'pending', sizeBytes, sha256 };
}

function readyFileOf(row: FileRow): ReadyFile {
  const { size_bytes: sizeBytes, sha256 } = row;
  if (sizeBytes === null || sha256 === null) throw new Error(`ready file ${row.id} has no content`);
  return { ...identityOf(row), status: 'ready', sizeBytes, sha256 };
}

function identityOf(row: FileRow) {
  return {
    id: fileId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    name: row.name,
    contentType: row.content_type,
    createdAt: row.created_at,
  };
}
