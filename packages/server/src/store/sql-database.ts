/** What may be bound to a statement. Flags are 0/1, times are integer milliseconds, JSON is text. */
export type SqlValue = string | number | null | Uint8Array;

/** SQL text with holes, and what goes into the holes. Made by the `sql` tag, never by hand. */
export interface Statement {
  readonly strings: readonly string[];
  readonly values: readonly SqlValue[];
}

export interface Reader {
  all<Row>(statement: Statement): Promise<Row[]>;
  get<Row>(statement: Statement): Promise<Row | undefined>;
}

/**
 * One unit of work. It may await nothing but the store: on SQLite it shares its commit, and so its
 * waiting, with its neighbours.
 *
 * A statement that fails dooms the transaction on both databases, even if the caller catches the
 * error: PostgreSQL cannot go on after one, so nobody may come to rely on SQLite, which could.
 * An expected conflict is written as `on conflict do nothing`.
 */
export interface Transaction extends Reader {
  /** Gives the number of rows changed. */
  run(statement: Statement): Promise<number>;
  /**
   * Registers what happens once the commit is durable, in the order of registration; never after a
   * rollback. What an effect throws is reported and goes no further.
   */
  onCommit(effect: () => void): void;
}

export interface Database extends Reader {
  /**
   * Runs `work` and commits; resolves once the commit is durable, rejects with nothing kept.
   * `work` may be run again from the start after a deadlock or a serialisation failure, so all it
   * does besides talking to `tx` must bear repetition; effects belong in `onCommit`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Whether a write would be kept, after one was refused; absent where the disk is not this server's own matter.
   */
  takesWrites?(): Promise<boolean>;
  /** How busy the connections are, and how many callers wait for one; absent where there is no pool. */
  connections?(): Connections;
  /** Finishes what is under way, refuses what comes later, and gives the files or connections back. */
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
