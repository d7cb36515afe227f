import type { FileStatus } from '@convoke/contract';
import { type File, type PendingFile, type ReadyFile, fileLeastBytes } from '../../domain/file.ts';
import type { FileRepository } from '../../ports/repositories/files.ts';
import { type NounRow, nounTable, number, text } from '../columns.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

interface StoredFile extends Omit<PendingFile, 'status'> {
  readonly status: FileStatus;
}

/** The columns of a file: a new field of a file is one line here. */
const fileTable = nounTable<StoredFile>('files', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    sessionId: text('session_id', 'fixed'),
    name: text('name', 'fixed'),
    contentType: text('content_type', 'fixed'),
    sizeBytes: number('size_bytes'),
    sha256: text('sha256'),
    status: text('status'),
    createdAt: number('created_at', 'fixed'),
  },
});

export function fileRepository(db: Transaction): FileRepository {
  return {
    async insert(file) {
      await db.run(fileTable.insert(file));
    },

    async find(scope, session, id) {
      const row = await db.get<NounRow>(sql`
        select * from files
        where id = ${id} and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && fileOf(row);
    },

    async complete(file) {
      const changed = await db.run(sql`
        update files set ${fileTable.assignments(file)}
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
      const rows = await db.all<NounRow>(sql`
        select * from files
        where session_id = ${session} and tenant_id = ${scope.tenantId} ${pageOf(page, 'id')}`);
      return rows.map(fileOf);
    },

    async ready(session, limit) {
      const rows = await db.all<NounRow>(sql`
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

function fileOf(row: NounRow): File {
  const file = fileTable.read(row);
  return file.status === 'ready' ? readyFile(file) : { ...file, status: file.status };
}

function readyFileOf(row: NounRow): ReadyFile {
  return readyFile(fileTable.read(row));
}

function readyFile({ sizeBytes, sha256, ...file }: StoredFile): ReadyFile {
  if (sizeBytes === null || sha256 === null)
    throw new Error(`ready file ${file.id} has no content`);
  return { ...file, status: 'ready', sizeBytes, sha256 };
}
