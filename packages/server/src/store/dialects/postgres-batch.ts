import type { ClientBase, Connection, FieldDef, Submittable, TypeOverrides } from 'pg';
import { serialize } from 'pg-protocol';
import { rowMaker } from '../row-maker.ts';
import type { SqlValue } from '../sql-database.ts';

/** The protocol counts the values of a statement in two bytes. */
const valuesMax = 65_535;

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
  readonly rows: Readonly<Row>[];
  readonly command: string;
  readonly changes: number;
}

type Row = Record<string, unknown>;
/** Decodes a row of a statement. */
type RowDecoder = (texts: readonly (string | null)[]) => Row;

const noRows: RowDecoder = () => ({});

/**
 * What a connection has prepared, by name. `unsure` after an error: the server may have parsed the statement or not.
 */
type PreparedStatements = Map<string, RowDecoder | 'unsure'>;
const preparedOn = new WeakMap<Connection, PreparedStatements>();

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
  #prepared: PreparedStatements = new Map();
  #rows: Row[] = [];
  #decode = noRows;

  constructor(
    queries: readonly WireQuery[],
    types: TypeOverrides,
    settle: (error: Error | undefined, results: readonly WireResult[]) => void,
  ) {
    this.#queries = queries;
    this.#types = types;
    // Through a variable: V8 makes a function that is assigned to a property an old object.
    const settled = (error?: Error | null) => settle(error ?? undefined, this.#results);
    this.callback = settled;
  }

  /** Returns the error of a batch that cannot be written. `pg` passes it on, and the connection stays usable. */
  submit(connection: Connection): Error | undefined {
    const prepared = preparedOn.get(connection) ?? new Map<string, RowDecoder | 'unsure'>();
    preparedOn.set(connection, prepared);
    this.#prepared = prepared;
    const parsed = new Set<string>();
    let messages: Buffer[];
    try {
      messages = this.#queries.flatMap((query) => this.#messages(query, parsed));
    } catch (error) {
      return error instanceof Error ? error : new Error('a statement cannot be written');
    }
    // In one buffer: the system takes longer over a list of small ones. A lost connection is reported by `pg`.
    if (connection.stream.writable) {
      connection.stream.write(Buffer.concat([...messages, serialize.sync()]));
    }
    this.#begin();
    return undefined;
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#decode = rowDecoder(fields, this.#types);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(this.#decode(fields));
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { name } = this.#queries[this.#results.length] ?? {};
    if (name !== undefined) this.#prepared.set(name, this.#decode);
    // `INSERT 0 1`, `UPDATE 1`, `COMMIT`: the command is the first word, the number of rows the last.
    const end = text.indexOf(' ');
    this.#results.push({
      rows: this.#rows,
      command: end < 0 ? text : text.slice(0, end),
      changes: end < 0 ? 0 : Number(text.slice(text.lastIndexOf(' ') + 1)) || 0,
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

  #messages({ text, name = '', values }: WireQuery, parsed: Set<string>): Buffer[] {
    const messages: Buffer[] = [];
    const known = this.#prepared.get(name);
    const isParsed = name !== '' && (parsed.has(name) || typeof known === 'function');
    if (!isParsed) {
      // Closing a statement that does not exist is no error.
      if (known === 'unsure') messages.push(serialize.close({ type: 'S', name }));
      messages.push(serialize.parse({ name, text, types: [] }));
      if (name !== '') {
        parsed.add(name);
        // Until its result has come.
        this.#prepared.set(name, 'unsure');
      }
    }
    messages.push(serialize.bind({ statement: name, values: wireValues(values) }));
    // Known columns are not asked for again.
    if (typeof known !== 'function') messages.push(serialize.describe({ type: 'P', name: '' }));
    messages.push(serialize.execute());
    return messages;
  }

  /** Prepares for the results of the next statement. */
  #begin(): void {
    const { name } = this.#queries[this.#results.length] ?? {};
    const known = name === undefined ? undefined : this.#prepared.get(name);
    this.#rows = [];
    this.#decode = typeof known === 'function' ? known : noRows;
  }
}

function rowDecoder(columns: readonly FieldDef[], types: TypeOverrides): RowDecoder {
  const makeRow = rowMaker(columns.map(({ name }) => name));
  const parsers = columns.map(({ dataTypeID }) => {
    // Its declared type has the argument wrong.
    const parse: unknown = types.getTypeParser(dataTypeID, 'text');
    return parse as (text: string) => unknown;
  });
  return (texts) =>
    makeRow(
      texts.map((text, index) => {
        const parse = parsers[index];
        return text === null || parse === undefined ? null : parse(text);
      }),
    );
}

/** Bytes as they are, everything else as text. */
function wireValues(values: readonly SqlValue[]): (string | Buffer | null)[] {
  if (values.length > valuesMax) {
    // No other error would do: all but `TypeError` count as a lost connection (postgres-errors.ts).
    throw new TypeError(`A statement has ${values.length} values; PostgreSQL takes ${valuesMax}.`);
  }
  return values.map((value) => {
    if (value === null || typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  });
}
