import { DatabaseSync } from 'node:sqlite';
import { StorageUnavailable } from '../../ports/errors.ts';
import { makeFilePrivate, takeFromOthers } from '../../runtime/private-files.ts';
import { UniqueViolation, type Statement } from '../sql-database.ts';
import { renderSql } from '../sql.ts';
import { PreparedStatement } from './sqlite-statement.ts';

/**
 * How long to wait while another process (a backup, an admin command) holds the lock. Waiting blocks the event loop.
 */
const defaultBusyTimeoutMs = 100;
/** Earlier versions can corrupt the write-ahead log when they reset it. */
export const oldestSafeVersion = [3, 51, 3] as const;

const primaryResultMask = 0xff;
const sqliteBusy = 5;
const sqliteLocked = 6;
const sqliteNoMemory = 7;
const sqliteReadOnly = 8;
const sqliteIoError = 10;
const sqliteCorrupt = 11;
const sqliteFull = 13;
const sqliteCannotOpen = 14;
const sqliteProtocol = 15;
const sqliteNotADatabase = 26;
const unavailableResults = new Set([
  sqliteBusy,
  sqliteLocked,
  sqliteNoMemory,
  sqliteReadOnly,
  sqliteIoError,
  sqliteCorrupt,
  sqliteFull,
  sqliteCannotOpen,
  sqliteProtocol,
  sqliteNotADatabase,
]);

const sqliteIoErrorFsync = sqliteIoError | (4 << 8);
const sqliteIoErrorFolderFsync = sqliteIoError | (5 << 8);
const sqliteConstraintPrimaryKey = 1555;
const sqliteConstraintUnique = 2067;
const sqliteConstraintRowId = 2579;

/** A connection and its prepared statements, keyed by the identity of their template. */
export interface SqliteConnection {
  readonly handle: DatabaseSync;
  readonly prepared: WeakMap<readonly string[], PreparedStatement>;
}

/** Opens the one connection that writes. Opened first: it creates the file and turns on the write-ahead log. */
export function openWriter(path: string, busyTimeoutMs?: number): SqliteConnection {
  if (path !== ':memory:') {
    // SQLite gives the files beside it the permissions of the database.
    makeFilePrivate(path);
    for (const suffix of ['-wal', '-shm']) takeFromOthers(`${path}${suffix}`);
  }
  const writer = connect(path, { readOnly: false, busyTimeoutMs });
  refuseOldVersion(writer.handle);
  const { journal_mode: mode } = writer.handle.prepare('pragma journal_mode = wal').get() ?? {};
  if (mode !== 'wal') {
    throw new StorageUnavailable(
      `${path}: this file system does not support a write-ahead log (journal_mode is ${String(mode)}); put the data folder on a local disk`,
    );
  }
  // Between transactions the cache has 4 MB, a transaction may hold 16 MB (4096 pages) before it writes some early.
  // `SqliteCheckpoints` runs the checkpoints: SQLite's own would hide a failing fsync.
  writer.handle.exec(`
    pragma synchronous = full;
    pragma wal_autocheckpoint = 0;
    pragma journal_size_limit = ${64 * 1024 * 1024};
    pragma cache_size = -4096;
    pragma cache_spill = 4096;
  `);
  return writer;
}

/** A second connection, so that a read outside a transaction sees committed rows only. */
export function openReader(path: string, busyTimeoutMs?: number): SqliteConnection {
  return connect(path, { readOnly: true, busyTimeoutMs });
}

export function prepare(connection: SqliteConnection, statement: Statement): PreparedStatement {
  const known = connection.prepared.get(statement.strings);
  if (known !== undefined) return known;
  const text = renderSql(statement.strings, 'sqlite');
  const prepared = new PreparedStatement(connection.handle.prepare(text));
  connection.prepared.set(statement.strings, prepared);
  return prepared;
}

/** Converts to `StorageUnavailable` or `UniqueViolation`; other errors are faults and stay as they are. */
export function toStoreError(error: unknown): unknown {
  const code = resultCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  if (unavailableResults.has(code & primaryResultMask)) {
    return new StorageUnavailable(`SQLite: ${error.message}`, { cause: error });
  }
  if (
    code === sqliteConstraintPrimaryKey ||
    code === sqliteConstraintUnique ||
    code === sqliteConstraintRowId
  ) {
    const constraint = error.message.split('constraint failed: ')[1];
    return new UniqueViolation(error.message, { constraint, cause: error });
  }
  return error;
}

/**
 * After a failed fsync the kernel may have dropped the pages it could not write and report the next fsync as a
 * success, so this process can no longer trust the file (D-320).
 */
export function isFsyncFailure(error: unknown): boolean {
  const code = resultCode(error);
  return code === sqliteIoErrorFsync || code === sqliteIoErrorFolderFsync;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function connect(
  path: string,
  { readOnly, busyTimeoutMs }: { readOnly: boolean; busyTimeoutMs: number | undefined },
): SqliteConnection {
  try {
    const handle = new DatabaseSync(path, {
      readOnly,
      timeout: busyTimeoutMs ?? defaultBusyTimeoutMs,
      enableForeignKeyConstraints: true,
      // No statement may edit the text of the schema or the pages of the file.
      defensive: true,
    });
    return { handle, prepared: new WeakMap() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageUnavailable(`${path}: cannot open the database: ${reason}`, { cause: error });
  }
}

function refuseOldVersion(handle: DatabaseSync): void {
  const version = String(handle.prepare('select sqlite_version() as version').get()?.['version']);
  const parts = version.split('.').map(Number);
  for (const [index, oldest] of oldestSafeVersion.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new Error(
        `SQLite ${version} can corrupt its log; use a Node with SQLite ${oldestSafeVersion.join('.')} or newer (Node 24.18.1 does)`,
      );
    }
  }
}
