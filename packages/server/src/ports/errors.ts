/**
 * The store cannot serve now: disk full, database unreachable or busy, connection pool exhausted. A write
 * that failed with this error may or may not be durable (a connection can be lost during a commit): only a
 * read shows which.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}
