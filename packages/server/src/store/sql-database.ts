/** A value that can be bound to a statement. Flags are 0/1, times are integer milliseconds, JSON is text. */
export type SqlValue = string | number | null | Uint8Array;

/** SQL text split at its placeholders, and the values to bind. Made by the `sql` tag, never by hand. */
export interface Statement {
  readonly strings: readonly string[];
  readonly values: readonly SqlValue[];
}

export interface Reader {
  all<Row>(statement: Statement): Promise<Row[]>;
  get<Row>(statement: Statement): Promise<Row | undefined>;
}

/**
 * One unit of work. It may await nothing but the store: on SQLite it shares its commit with other transactions, which
 * would have to wait.
 *
 * A failed statement dooms the transaction on both databases, even if the caller catches the error: PostgreSQL cannot
 * continue after one, so SQLite, which could, refuses too. An expected conflict is written as `on conflict do nothing`.
 */
export interface Transaction extends Reader {
  /** Returns the number of rows changed. */
  run(statement: Statement): Promise<number>;
  /**
   * Writes with the next statement that is awaited, at the latest with the commit: on PostgreSQL it costs no round
   * trip. Its failure dooms the transaction.
   */
  later(statement: Statement): void;
  /** As `later`, and the transaction fails unless the statement changes exactly one row. */
  changeOneLater(statement: Statement): void;
  /**
   * Registers an effect to run once the commit is durable, in the order of registration; never after a rollback. An
   * error that an effect throws is only reported.
   */
  onCommit(effect: () => void): void;
}

export interface Database extends Reader {
  /**
   * Runs `work` and commits; resolves once the commit is durable, rejects with nothing kept. `work` may run again from
   * the start after a deadlock, a serialisation failure or, on SQLite, the failure of a transaction that shares its
   * commit, so everything it does outside `tx` must be repeatable; effects belong in `onCommit`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  readonly dialect: 'sqlite' | 'postgres';
  /** After a refused write: whether writes succeed again. Absent where the disk belongs to another server. */
  acceptsWrites?(): Promise<boolean>;
  /** The state of the connection pool; absent where there is no pool. */
  connections?(): Connections;
  /** Finishes running transactions, rejects later ones, and closes the files or connections. */
  close(): Promise<void>;
}

export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

/** A primary key or a unique constraint refused a row. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  /** PostgreSQL names the constraint; SQLite names the columns, as `runs.id`. */
  readonly constraint: string | undefined;

  constructor(message: string, options: { constraint: string | undefined; cause: unknown }) {
    super(message, { cause: options.cause });
    this.constraint = options.constraint;
  }
}
