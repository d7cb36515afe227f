import { StorageUnavailable } from '../../ports/errors.ts';
import type { Report } from '../effects.ts';
import type { MigratableDatabase } from '../migrate.ts';
import type { Statement } from '../sql-database.ts';
import { SqliteCommits } from './sqlite-commits.ts';
import {
  openReader,
  openWriter,
  prepare,
  toStoreError,
  type SqliteConnection,
} from './sqlite-connection.ts';
import type { PreparedStatement } from './sqlite-statement.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { SqliteWriteProbe } from './sqlite-write-probe.ts';

interface SqliteOptions {
  /** A file on a local disk; its folder must exist. */
  path: string;
  /** Called once when an fsync has failed. It must end the process: the content of the disk is unknown. */
  onFatal: (error: unknown) => void;
  report: Report;
  /** How long to wait for another process. A server keeps the default: waiting blocks its event loop. */
  busyTimeoutMs?: number;
}

/**
 * Opens SQLite so that every committed transaction is durable: write-ahead log, `synchronous = full` (architecture idea
 * 5).
 */
export async function openSqlite(options: SqliteOptions): Promise<MigratableDatabase> {
  const { path, busyTimeoutMs } = options;
  const writer = openWriter(path, busyTimeoutMs);
  return new SqliteDatabase(writer, openReader(path, busyTimeoutMs), options);
}

class SqliteDatabase implements MigratableDatabase {
  readonly dialect = 'sqlite';
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  readonly #commits: SqliteCommits;
  readonly #writeProbe: SqliteWriteProbe;
  #closed: Promise<void> | undefined;

  constructor(writer: SqliteConnection, reader: SqliteConnection, options: SqliteOptions) {
    this.#writer = writer;
    this.#reader = reader;
    // Sets the value it already has: the page is written nevertheless.
    const rewrite = (tx: SqliteTransaction) => tx.script('pragma user_version = 0');
    this.#writeProbe = new SqliteWriteProbe(options.path, () => this.transaction(rewrite));
    const onRefusal = () => this.#writeProbe.noteRefusal();
    this.#commits = new SqliteCommits(writer, { ...options, onRefusal });
  }

  all<Row>(statement: Statement): Promise<Row[]> {
    try {
      return Promise.resolve(this.#prepare(statement).all<Row>(statement.values));
    } catch (error) {
      return this.#readFailure(error);
    }
  }

  get<Row>(statement: Statement): Promise<Row | undefined> {
    try {
      return Promise.resolve(this.#prepare(statement).get<Row>(statement.values));
    } catch (error) {
      return this.#readFailure(error);
    }
  }

  /** SQLite has no row-level security: only the tenant condition in each statement keeps tenants apart. */
  inTenantScope<T>(_tenantId: string, work: () => T): T {
    return work();
  }

  transaction<T>(work: (tx: SqliteTransaction) => Promise<T>): Promise<T> {
    return this.#commits.transaction(work);
  }

  /** From here on, what a savepoint keeps for its rollback is in memory: in a file, each page is a system call. */
  migrated(): void {
    this.#writer.handle.exec('pragma temp_store = memory');
  }

  acceptsWrites(): Promise<boolean> {
    return this.#writeProbe.acceptsWrites();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    this.#reader.handle.close();
    // Closing the last connection runs a checkpoint, whose fsync must not follow a failed one.
    if (!this.#commits.hasFailed) this.#writer.handle.close();
  }

  /**
   * Prepares a read on the connection that is best for it. Between two transactions that is the writer's, which still
   * has the pages that it wrote, while every commit empties the cache of the other one. During a transaction the writer
   * sees what is not durable yet. Only a select may use it: the other one refuses to write.
   */
  #prepare(statement: Statement): PreparedStatement {
    const { handle } = this.#writer;
    if (handle.isOpen && !handle.isTransaction && !this.#commits.hasFailed) {
      const prepared = prepare(this.#writer, statement);
      if (prepared.isSelect) return prepared;
    }
    return prepare(this.#reader, statement);
  }

  #readFailure(error: unknown): Promise<never> {
    if (this.#reader.handle.isOpen) return Promise.reject(toStoreError(error));
    return Promise.reject(new StorageUnavailable('the database is closed', { cause: error }));
  }
}
