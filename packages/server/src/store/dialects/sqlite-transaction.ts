import type { StorageUnavailable } from '../../ports/errors.ts';
import { runEffects, type Report } from '../effects.ts';
import type { MigrationTransaction } from '../migrate.ts';
import type { Statement } from '../sql-database.ts';
import { prepare, toStoreError, type SqliteConnection } from './sqlite-connection.ts';
import type { PreparedStatement } from './sqlite-statement.ts';

/** A transaction that awaits anything but the store blocks all others; it fails after this. */
export const transactionMaxMs = 5_000;

function nothing(): void {}

/** The caller's work, and the functions that settle the caller's promise. */
interface Job<T> {
  work(tx: SqliteTransaction): Promise<T>;
  resolve(result: T): void;
  reject(error: unknown): void;
}

/** One job of a group commit. Statements run synchronously on the writer; the promises only satisfy the interface. */
export class SqliteTransaction<T = unknown> implements MigrationTransaction {
  readonly #writer: SqliteConnection;
  readonly #job: Job<T>;
  readonly #effects: (() => void)[] = [];
  #settled = nothing;
  /** A value, not a closure: V8 pretenures closures assigned to fields, which would retain the whole run. */
  #result: T | undefined;
  #finished = false;
  #failed = false;
  #hasWritten = false;
  #hasTimedOut = false;
  #reason: unknown;
  #statementFailure: unknown;
  /** The error of a statement that nothing awaited: what the work threw after it only says that there was one. */
  #unawaitedFailure: unknown;

  constructor(writer: SqliteConnection, job: Job<T>) {
    this.#writer = writer;
    this.#job = job;
  }

  all<Row>(statement: Statement): Promise<Row[]> {
    try {
      this.#refuseUse();
      return Promise.resolve(this.#prepare(statement).all<Row>(statement.values));
    } catch (error) {
      return this.#doom(error);
    }
  }

  get<Row>(statement: Statement): Promise<Row | undefined> {
    try {
      this.#refuseUse();
      return Promise.resolve(this.#prepare(statement).get<Row>(statement.values));
    } catch (error) {
      return this.#doom(error);
    }
  }

  run(statement: Statement): Promise<number> {
    try {
      this.#refuseUse();
      return Promise.resolve(this.#prepare(statement).run(statement.values));
    } catch (error) {
      return this.#doom(error);
    }
  }

  later(statement: Statement): void {
    this.#write(statement);
  }

  changeOneLater(statement: Statement): void {
    const changes = this.#write(statement);
    if (changes === 1 || this.#statementFailure !== undefined) return;
    this.#unawaitedFailure = new Error(`${changes} rows changed instead of one`);
    this.#statementFailure = this.#unawaitedFailure;
  }

  onCommit(effect: () => void): void {
    this.#refuseUse();
    this.#effects.push(effect);
  }

  /** `begin immediate` already excludes every other process. */
  lockMigrations(): Promise<void> {
    return Promise.resolve();
  }

  script(text: string): Promise<void> {
    try {
      this.#refuseUse();
      this.#hasWritten = true;
      this.#writer.handle.exec(text);
      if (!this.#writer.handle.isTransaction) throw new Error('a script must not commit');
      return Promise.resolve();
    } catch (error) {
      return this.#doom(error);
    }
  }

  /** Runs the work until it succeeds, fails or times out; never rejects. */
  perform(): Promise<void> {
    return new Promise((settled) => {
      this.#settled = settled;
      try {
        this.#job.work(this).then(
          (result) => {
            this.#result = result;
            this.#finish(false, undefined);
          },
          (error: unknown) => this.#finish(true, error),
        );
      } catch (error) {
        this.#finish(true, error);
      }
    });
  }

  /** Called when the work has not ended within `transactionMaxMs`. */
  timeOut(): void {
    if (this.#finished) return;
    this.#hasTimedOut = true;
    this.#finish(true, tooSlow());
  }

  get failed(): boolean {
    return this.#failed;
  }

  get hasTimedOut(): boolean {
    return this.#hasTimedOut;
  }

  /** Whether anything but a select was executed. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** A new transaction for the same work and the same caller. */
  again(): SqliteTransaction<T> {
    return new SqliteTransaction(this.#writer, this.#job);
  }

  /** The original error of SQLite when a statement failed. */
  get statementFailure(): unknown {
    return this.#statementFailure;
  }

  /** Called once the group is durable: runs the effects and settles the caller's promise. */
  announce(report: Report): void {
    if (this.#failed) return this.#job.reject(this.#reason);
    runEffects(this.#effects, report);
    this.#job.resolve(this.#result as T);
  }

  /**
   * Called when the group could not commit. Rejects even work that had failed on its own: it may have read lost rows.
   */
  abandon(error: StorageUnavailable): void {
    this.#finished = true;
    this.#job.reject(error);
  }

  #finish(failed: boolean, reason: unknown): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#failed = failed || this.#statementFailure !== undefined;
    const ofStatement = this.#unawaitedFailure ?? toStoreError(this.#statementFailure);
    this.#reason = failed ? (this.#unawaitedFailure ?? reason) : ofStatement;
    this.#settled();
  }

  #prepare(statement: Statement): PreparedStatement {
    const prepared = prepare(this.#writer, statement);
    this.#hasWritten ||= !prepared.isSelect;
    return prepared;
  }

  #refuseUse(): void {
    if (this.#finished) throw new Error('this transaction has ended; its `tx` must not be kept');
    if (this.#statementFailure !== undefined) {
      throw new Error('an earlier statement of this transaction failed; nothing may follow it');
    }
  }

  /** Returns the number of rows changed. A failure is kept: it rejects the transaction at its end. */
  #write(statement: Statement): number {
    this.#refuseUse();
    try {
      return this.#prepare(statement).run(statement.values);
    } catch (error) {
      this.#unawaitedFailure = toStoreError(error);
      this.#statementFailure = error;
      return 0;
    }
  }

  #doom(error: unknown): Promise<never> {
    if (!this.#finished) this.#statementFailure ??= error;
    return Promise.reject(toStoreError(error));
  }
}

function tooSlow(): Error {
  return new Error(
    `a transaction did not end within ${transactionMaxMs} ms; it may await nothing but the store`,
  );
}
