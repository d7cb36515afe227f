import type { PoolClient, QueryConfig, TypeOverrides } from 'pg';
import { StorageUnavailable } from '../../ports/errors.ts';
import { runEffects, type Report } from '../effects.ts';
import type { MigrationTransaction } from '../migrate.ts';
import type { Statement } from '../sql-database.ts';
import { type WireQuery, type WireResult, sendBatch } from './postgres-batch.ts';
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

interface TransactionParts {
  /** What begins the transaction; sent with its first statement. */
  readonly begin: readonly WireQuery[];
  readonly prepared: PreparedQueries;
  readonly types: TypeOverrides;
}

/** A statement that is not sent yet, and the promise of its result. */
interface Pending {
  readonly query: WireQuery;
  readonly resolve?: (result: WireResult) => void;
  readonly reject?: (error: unknown) => void;
}

/**
 * One connection from `begin` to `commit` or `rollback`. Statements that are issued in one turn go in one message; a
 * statement that nothing waits for goes with the next one, at the latest with the commit.
 */
export class PostgresTransaction implements MigrationTransaction {
  readonly #client: PoolClient;
  readonly #prepared: PreparedQueries;
  readonly #types: TypeOverrides;
  readonly #effects: (() => void)[] = [];
  #pending: Pending[];
  #hasBegun = false;
  #isAwaited = false;
  #sending: Promise<void> | undefined;
  #finished = false;
  #failure: unknown;

  constructor(client: PoolClient, { begin, prepared, types }: TransactionParts) {
    this.#client = client;
    this.#prepared = prepared;
    this.#types = types;
    this.#pending = begin.map((query) => ({ query }));
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
    const { changes } = await this.#query(this.#prepared.query(statement));
    return changes;
  }

  later(statement: Statement): void {
    this.#refuseUse();
    this.#pending.push({ query: this.#prepared.query(statement) });
  }

  changeOneLater(statement: Statement): void {
    this.#refuseUse();
    this.#pending.push({ query: this.#prepared.changingOne(statement) });
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
    this.#refuseUse();
    if (this.#pending.length > 0) this.#isAwaited = true;
    await this.#sent();
    if (this.#failure !== undefined) throw toStoreError(this.#failure);
    const script: TimedQuery = { text, query_timeout: migrationTimeoutMs };
    await this.#client.query(script).catch((error: unknown) => this.#fail(error));
  }

  async commit(): Promise<void> {
    // Statements that were not awaited.
    await this.#sending;
    if (this.#failure !== undefined) throw toStoreError(this.#failure);
    const isEmpty = !this.#hasBegun && this.#pending.every(({ query }) => isBeginning(query));
    const { command } = isEmpty ? { command: 'COMMIT' } : await this.#commit();
    this.#finished = true;
    if (command !== 'COMMIT') throw toStoreError(this.#failure);
  }

  async #commit(): Promise<WireResult> {
    return this.#query({ name: 'convoke_commit', text: 'commit', values: [] }).catch(
      (error: unknown) => {
        if (!isConnectionLost(this.#failure)) throw error;
        throw new StorageUnavailable(
          'PostgreSQL: the connection was lost during a commit; only a read shows whether it was kept',
          { cause: error },
        );
      },
    );
  }

  /** Returns the connection to the pool, or closes it when its state is unknown. */
  async rollback(): Promise<void> {
    this.#finished = true;
    await this.#sending;
    if (!this.#hasBegun) return this.#client.release();
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

  #query(query: WireQuery): Promise<WireResult> {
    this.#refuseUse();
    return new Promise((resolve, reject) => {
      this.#pending.push({ query, resolve, reject });
      this.#isAwaited = true;
      this.#sending ??= this.#send();
    });
  }

  /** Resolves when no result is awaited. */
  #sent(): Promise<void> {
    this.#sending ??= this.#send();
    return this.#sending;
  }

  /** Sends what is pending until no result is awaited. Never rejects. */
  async #send(): Promise<void> {
    // After this turn: statements that are issued together go together.
    await Promise.resolve();
    while (this.#isAwaited) {
      const batch = this.#pending;
      this.#pending = [];
      this.#isAwaited = false;
      // Behind a `begin` that failed, statements would commit on their own.
      if (this.#failure === undefined) await this.#sendBatch(batch);
      if (this.#failure === undefined) continue;
      for (const { reject } of batch) reject?.(toStoreError(this.#failure));
    }
    // In the same turn: a statement that follows from these results must be sent, too.
    this.#sending = undefined;
  }

  async #sendBatch(batch: readonly Pending[]): Promise<void> {
    this.#hasBegun = true;
    const queries = batch.map(({ query }) => query);
    try {
      const results = await sendBatch(this.#client, queries, this.#types);
      for (const [index, result] of results.entries()) batch[index]?.resolve?.(result);
    } catch (error) {
      this.#note(error);
    }
  }

  #fail(error: unknown): never {
    this.#note(error);
    throw toStoreError(error);
  }

  #note(error: unknown): void {
    this.#failure ??= error;
    if (isStalePlan(error)) this.#prepared.renew();
  }

  #refuseUse(): void {
    if (this.#finished) throw new Error('this transaction has ended; its `tx` must not be kept');
    if (this.#failure !== undefined) {
      throw new Error('an earlier statement of this transaction failed; nothing may follow it');
    }
  }
}

function isBeginning({ name }: WireQuery): boolean {
  return name === 'convoke_begin' || name === 'convoke_local_tenant';
}
