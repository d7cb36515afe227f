/**
 * Copies the log back into the database file, instead of `wal_autocheckpoint`: SQLite ignores the errors of its own
 * checkpoints, a failing fsync included, and runs them inside the commit that a caller waits for.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * About 32 MB of log. A page that changes in every commit is copied once per checkpoint, and most of the time of a
 * checkpoint, in which nothing else happens, is its fsync.
 */
const checkpointAtPages = 8_000;
/** The log is measured after this many commits: that takes as long as a small statement. */
const commitsPerMeasure = 8;

export class SqliteCheckpoints {
  readonly #measure: StatementSync;
  readonly #checkpoint: StatementSync;
  #dueAt = checkpointAtPages;
  #commits = 0;

  constructor(writer: DatabaseSync) {
    this.#measure = writer.prepare('pragma wal_checkpoint(noop)');
    this.#checkpoint = writer.prepare('pragma wal_checkpoint(passive)');
  }

  /** Called after each commit. */
  isDue(): boolean {
    this.#commits += 1;
    return this.#commits % commitsPerMeasure === 0 && this.#pagesToCopy() >= this.#dueAt;
  }

  /** Throws the errors of SQLite; the next attempt is then due after as many pages again. */
  run(): void {
    this.#dueAt = this.#pagesToCopy() + checkpointAtPages;
    this.#checkpoint.get();
    this.#dueAt = checkpointAtPages;
  }

  #pagesToCopy(): number {
    const row = this.#measure.get();
    return Number(row?.['log']) - Number(row?.['checkpointed']);
  }
}
