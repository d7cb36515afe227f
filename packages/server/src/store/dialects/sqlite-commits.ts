/**
 * Many transactions, one fsync.
 *
 * Transactions wait in a queue. Once a turn of the event loop brings no more of them, they run one after another inside
 * one `begin immediate … commit`. One that throws before it writes leaves nothing to undo. After a write, what it
 * throws rolls back the whole group, and the transactions that had begun run again, each in a savepoint, so that only
 * its own work is rolled back. Groups have no savepoints from the start, because a savepoint copies every page that is
 * changed behind it. No promise is settled before the commit is durable, not even of a transaction that failed: it may
 * have failed because of a row of another transaction that is not on disk yet.
 *
 * When the commit fails, or SQLite rolls back the whole group (disk full), every transaction that had begun is rejected
 * as unavailable; those still queued get a group of their own.
 */
import type { StatementSync } from 'node:sqlite';
import { StorageUnavailable } from '../../ports/errors.ts';
import { inBackground } from '../../runtime/in-background.ts';
import type { Report } from '../effects.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { SqliteCheckpoints } from './sqlite-checkpoints.ts';
import { isFsyncFailure, type SqliteConnection } from './sqlite-connection.ts';
import { SqliteTransaction, transactionMaxMs } from './sqlite-transaction.ts';

const groupMax = 256;
const gatherTurnsMax = 4;
/** After a failure others are likely: as many groups have savepoints, and are not repeated. */
const groupsWithSavepoints = 100;
const queuedMax = 10_000;

interface CommitOptions {
  /** Called once, when an fsync has failed: the process must end (see `isFsyncFailure`). */
  onFatal: (error: unknown) => void;
  /** Called whenever a transaction was rejected because the storage could not keep it. */
  onRefusal: () => void;
  report: Report;
}

export class SqliteCommits {
  readonly #writer: SqliteConnection;
  readonly #options: CommitOptions;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #rollbackTo: StatementSync;
  readonly #rollbackAll: StatementSync;
  readonly #checkpoints: SqliteCheckpoints;
  readonly #queue: SqliteTransaction[] = [];
  /** How many of the next groups have savepoints. */
  #savepointsFor = 0;
  #draining = false;
  #failed = false;
  #refusal: StorageUnavailable | undefined;
  #drained: (() => void) | undefined;

  constructor(writer: SqliteConnection, options: CommitOptions) {
    this.#writer = writer;
    this.#options = options;
    this.#begin = writer.handle.prepare('begin immediate');
    this.#commit = writer.handle.prepare('commit');
    this.#savepoint = writer.handle.prepare('savepoint work');
    this.#release = writer.handle.prepare('release work');
    this.#checkpoints = new SqliteCheckpoints(writer.handle);
    this.#rollbackTo = writer.handle.prepare('rollback to work');
    this.#rollbackAll = writer.handle.prepare('rollback');
  }

  transaction<T>(work: (tx: SqliteTransaction) => Promise<T>): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    if (this.#queue.length >= queuedMax) {
      return Promise.reject(new StorageUnavailable(`${queuedMax} transactions are already queued`));
    }
    return new Promise<T>((resolve, reject) => {
      const job = {
        work,
        resolve,
        reject: (error: unknown) => {
          if (error instanceof StorageUnavailable) this.#options.onRefusal();
          reject(error);
        },
      };
      this.#queue.push(new SqliteTransaction<T>(this.#writer, job));
      this.#schedule();
    });
  }

  /** Rejects later transactions and resolves when nothing is queued or running. */
  async close(): Promise<void> {
    this.#refusal ??= new StorageUnavailable('the database is closed');
    if (!this.#draining) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  /** Whether an fsync has failed; the file must not be written again. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  #schedule(): void {
    if (this.#draining) return;
    this.#draining = true;
    setImmediate(() => this.#gather(0, gatherTurnsMax));
  }

  /**
   * Waits while each turn of the event loop brings more transactions. Callers that were answered by one group write
   * their next requests while its effects run; without this, half of them would miss the next group, and each half
   * would pay an fsync of its own. A single transaction has nothing to wait for.
   */
  #gather(before: number, turnsLeft: number): void {
    const { length } = this.#queue;
    if (length === 1 || length === before || turnsLeft === 0) return inBackground(this.#drain());
    setImmediate(() => this.#gather(length, turnsLeft - 1));
  }

  async #drain(): Promise<void> {
    try {
      await this.#commitGroup();
      await this.#checkpointIfDue();
    } finally {
      // Whatever happened: a store that does not take its next group would hang for ever.
      this.#draining = false;
      if (this.#queue.length > 0) this.#schedule();
      else this.#drained?.();
    }
  }

  /** Never rejects: an error rejects the transactions it concerns. */
  async #commitGroup(): Promise<void> {
    const group: SqliteTransaction[] = [];
    const hasSavepoints = this.#savepointsFor > 0;
    if (hasSavepoints) this.#savepointsFor -= 1;
    let isOpen = true;
    // One timer for the group: one for each transaction would cost more than most of their statements.
    const deadline = setTimeout(() => group.at(-1)?.timeOut(), transactionMaxMs);
    try {
      this.#begin.run();
      // Transactions queued while the group runs join it, up to the bound.
      for (
        let tx = this.#next(group);
        tx !== undefined;
        tx = isOpen ? this.#next(group) : undefined
      ) {
        // What the first one throws can roll back the whole.
        const isInSavepoint = hasSavepoints && group.length > 1;
        if (isInSavepoint) this.#savepoint.run();
        deadline.refresh();
        await tx.perform();
        if (tx.failed) isOpen = this.#undo(tx, isInSavepoint);
        if (isInSavepoint) this.#release.run();
      }
      if (isOpen) this.#commit.run();
    } catch (error) {
      if (group.length === 0) group.push(...this.#queue.splice(0, groupMax));
      this.#abandon(group, error);
      return;
    } finally {
      clearTimeout(deadline);
    }
    if (!isOpen && group.length > 1) return this.#repeat(group);
    for (const tx of group) tx.announce(this.#options.report);
  }

  #next(group: SqliteTransaction[]): SqliteTransaction | undefined {
    if (group.length >= groupMax) return undefined;
    const tx = this.#queue.shift();
    if (tx !== undefined) group.push(tx);
    return tx;
  }

  /** Undoes what a failed transaction wrote. Returns false when the whole group had to be rolled back for it. */
  #undo(tx: SqliteTransaction, isInSavepoint: boolean): boolean {
    const failure = tx.statementFailure;
    // On a full disk SQLite may have rolled back the whole group.
    if (isFsyncFailure(failure) || !this.#writer.handle.isTransaction) throw failure;
    if (!tx.hasWritten) return true;
    if (isInSavepoint) this.#rollbackTo.run();
    else this.#rollbackAll.run();
    return isInSavepoint;
  }

  /** Queues the transactions of a group that was rolled back once more, before all others. */
  #repeat(group: readonly SqliteTransaction[]): void {
    this.#savepointsFor = groupsWithSavepoints;
    // The work of one that timed out is still under way: it must not be there twice.
    const stuck = group.filter((tx) => tx.hasTimedOut);
    this.#queue.unshift(...group.filter((tx) => !tx.hasTimedOut).map((tx) => tx.again()));
    for (const tx of stuck) tx.announce(this.#options.report);
  }

  #abandon(group: readonly SqliteTransaction[], error: unknown): void {
    if (isFsyncFailure(error)) {
      this.#fail(error);
      group = [...group, ...this.#queue.splice(0)];
    } else {
      this.#rollback();
    }
    const reason = error instanceof Error ? error.message : String(error);
    const refusal = new StorageUnavailable(`SQLite could not commit: ${reason}`, { cause: error });
    for (const tx of group) tx.abandon(refusal);
  }

  /** Makes the connection ready for the next group, which succeeds once there is space again. */
  #rollback(): void {
    if (!this.#writer.handle.isTransaction) return;
    try {
      this.#writer.handle.exec('rollback');
    } catch (error) {
      this.#options.report('SQLite could not roll back', error);
    }
  }

  async #checkpointIfDue(): Promise<void> {
    try {
      if (this.#failed || !this.#checkpoints.isDue()) return;
      // Let the callers of the commit continue first: they do so before the next turn.
      await nextTurn();
      this.#checkpoints.run();
    } catch (error) {
      if (isFsyncFailure(error)) this.#abandon([], error);
      else this.#options.report('SQLite could not copy its log into the database file', error);
    }
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.#refusal = new StorageUnavailable('an fsync failed; the process must end', {
      cause: error,
    });
    this.#options.onFatal(error);
  }
}
