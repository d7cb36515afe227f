import type { ClientBase, Connection, FieldDef, Submittable, TypeOverrides } from 'pg';
import type { SqlValue } from '../sql-database.ts';

/** Sends the statements in one message and returns the result of each; rejects with the first error. */
export function sendBatch(
  client: ClientBase,
  queries: readonly WireQuery[],
  types: TypeOverrides,
): Promise<readonly WireResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new PostgresBatch(queries, types, (error, results) => {
        if (error === undefined) resolve(results);
        else reject(error);
      }),
    );
  });
}

/** A statement as it goes over the wire. Without a name it is parsed each time. */
export interface WireQuery {
  readonly text: string;
  readonly name?: string;
  readonly values: readonly SqlValue[];
}

export interface WireResult {
  readonly rows: Readonly<Record<string, unknown>>[];
  readonly command: string;
  readonly changes: number;
}

/** How the rows of a statement are decoded: the column names, and a parser for each. */
type RowShape = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/**
 * What a connection has prepared, by name: the shape of the rows, empty for none. `unsure` after an error: the server
 * may have parsed the statement or not.
 */
type Prepared = Map<string, RowShape | 'unsure'>;
const preparedOn = new WeakMap<Connection, Prepared>();

/**
 * Several statements in one message, in order: one round trip instead of one for each. After an error PostgreSQL skips
 * the rest of the message, so a `commit` at its end is reached only when everything before it has succeeded, and
 * nothing follows a `begin` that failed.
 *
 * `pg` sends one query at a time, or each as a message of its own; so this speaks the extended query protocol through
 * the interface that `pg` has for such classes. The methods are those that its client calls.
 */
class PostgresBatch implements Submittable {
  /** Called once, by `pg` after a timeout, else by this class; `pg` wraps it. */
  callback: (error?: Error | null) => void;
  readonly #queries: readonly WireQuery[];
  readonly #types: TypeOverrides;
  readonly #results: WireResult[] = [];
  #prepared: Prepared = new Map();
  #rows: Record<string, unknown>[] = [];
  #shape: RowShape = [];

  constructor(
    queries: readonly WireQuery[],
    types: TypeOverrides,
    settle: (error: Error | undefined, results: readonly WireResult[]) => void,
  ) {
    this.#queries = queries;
    this.#types = types;
    this.callback = (error) => settle(error ?? undefined, this.#results);
  }

  submit(connection: Connection): void {
    const prepared = preparedOn.get(connection) ?? new Map<string, RowShape | 'unsure'>();
    preparedOn.set(connection, prepared);
    this.#prepared = prepared;
    connection.stream.cork();
    try {
      const parsed = new Set<string>();
      for (const query of this.#queries) this.#send(connection, query, parsed);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    this.#begin();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#shape = fields.map(({ name, dataTypeID }) => {
      // Its declared type has the argument wrong.
      const parse: unknown = this.#types.getTypeParser(dataTypeID, 'text');
      return { name, parse: parse as (text: string) => unknown };
    });
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.#shape.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { name } = this.#queries[this.#results.length] ?? {};
    if (name !== undefined) this.#prepared.set(name, this.#shape);
    const words = text.split(' ');
    this.#results.push({
      rows: this.#rows,
      command: words[0] ?? '',
      changes: Number(words.at(-1)) || 0,
    });
    this.#begin();
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** No statement is empty, reads a part of its rows, or copies. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  #send(connection: Connection, { text, name, values }: WireQuery, parsed: Set<string>): void {
    const known = name === undefined ? undefined : this.#prepared.get(name);
    const isParsed = name !== undefined && (parsed.has(name) || Array.isArray(known));
    if (!isParsed) {
      // Closing a statement that does not exist is no error.
      if (known === 'unsure') connection.close({ type: 'S', name: name ?? '' }, true);
      connection.parse({ name: name ?? '', text, types: [] }, true);
      if (name !== undefined) {
        parsed.add(name);
        // Until its result has come.
        this.#prepared.set(name, 'unsure');
      }
    }
    connection.bind({ statement: name ?? '', values: values.map(wireValue) }, true);
    // What is known of the rows is not asked for again.
    if (!Array.isArray(known)) connection.describe({ type: 'P', name: '' }, true);
    connection.execute(null, true);
  }

  /** Prepares for the results of the next statement. */
  #begin(): void {
    const { name } = this.#queries[this.#results.length] ?? {};
    const known = name === undefined ? undefined : this.#prepared.get(name);
    this.#rows = [];
    this.#shape = known === undefined || known === 'unsure' ? [] : known;
  }
}

function wireValue(value: SqlValue): string | Buffer | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
