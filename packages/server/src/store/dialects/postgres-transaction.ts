import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { StorageUnavailable } from '../../ports/errors.ts';
import { runEffects, type Report } from '../effects.ts';
import type { MigrationTransaction } from '../migrate.ts';
import type { Statement } from '../sql-database.ts';
import { isConnectionLost, isRetryable, isStalePlan, toStoreError } from './postgres-errors.ts';
import type { PreparedQueries } from './postgres-prepared.ts';

/** Limit for a migration, or for waiting until another replica has migrated. */
const migrationTimeoutMs = 60 * 60_000;
/** Statements on a table queue behind a migration that waits for its lock, so the migration waits no longer. */
const migrationLockTimeoutMs = 1_000;

/** `pg` also reads a timeout for a single query, which its types lack. */
interface TimedQuery extends QueryConfig {
  query_timeout?: number;
}

/** One connection from `begin` to `commit` or `rollback`. */
export class PostgresTransaction implements MigrationTransaction {
  readonly #client: PoolClient;
  readonly #prepared: PreparedQueries;
  readonly #effects: (() => void)[] = [];
  #finished = false;
  #failure: unknown;

  constructor(client: PoolClient, prepared: PreparedQueries) {
    this.#client = client;
    this.#prepared = prepared;
  }

  async all<Row>(statement: Statement): Promise<Row[]> {
    const { rows } = await this.#query(this.#prepared.query(statement));
    return rows as Row[];
  }

  async get<Row>(statement: Statement): Promise<Row | undefined> {
    const { rows } = await this.#query(this.#prepared.query(statement));
    return rows[0] as Row | undefined;
  }

  async run(statement: Statement): Promise<number> {
    const { rowCount } = await this.#query(this.#prepared.query(statement));
    return rowCount ?? 0;
  }

  onCommit(effect: () => void): void {
    this.#refuseUse();
    this.#effects.push(effect);
  }

  async lockMigrations(): Promise<void> {
    await this.script(`set local statement_timeout = 0; set local convoke.tenant = '*'`);
    await this.script(`select pg_advisory_xact_lock(hashtext('convoke schema migrations'))`);
    await this.script(`set local lock_timeout = ${migrationLockTimeoutMs}`);
  }

  async script(text: string): Promise<void> {
    await this.#query({ text, query_timeout: migrationTimeoutMs });
  }

  async begin(text: string): Promise<void> {
    await this.#query({ text });
  }

  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw toStoreError(this.#failure);
    const { command } = await this.#query({ text: 'commit' }).catch((error: unknown) => {
      if (!isConnectionLost(this.#failure)) throw error;
      throw new StorageUnavailable(
        'PostgreSQL: the connection was lost during a commit; only a read shows whether it was kept',
        { cause: error },
      );
    });
    this.#finished = true;
    // A statement that was not awaited has failed: the server answers `commit` with a rollback.
    if (command !== 'COMMIT') throw toStoreError(this.#failure);
  }

  /** Returns the connection to the pool, or closes it when its state is unknown. */
  async rollback(): Promise<void> {
    this.#finished = true;
    if (this.#failure !== undefined && isConnectionLost(this.#failure)) {
      return this.#client.release(true);
    }
    const lost = await this.#client.query('rollback').then(
      () => false,
      () => true,
    );
    this.#client.release(lost);
  }

  announce(report: Report): void {
    this.#client.release();
    runEffects(this.#effects, report);
  }

  /** Whether the server rolled back for a reason that a retry may avoid. */
  get isRetryable(): boolean {
    return isRetryable(this.#failure);
  }

  async #query(query: TimedQuery): Promise<QueryResult> {
    this.#refuseUse();
    try {
      return await this.#client.query(query);
    } catch (error) {
      this.#failure ??= error;
      if (isStalePlan(error)) this.#prepared.renew();
      throw toStoreError(error);
    }
  }

  #refuseUse(): void {
    if (this.#finished) throw new Error('this transaction has ended; its `tx` must not be kept');
    if (this.#failure !== undefined) {
      throw new Error('an earlier statement of this transaction failed; nothing may follow it');
    }
  }
}
