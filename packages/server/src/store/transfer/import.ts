import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { TransferConnection, TransferRow, TransferTable } from './connection.ts';
import { transferFormat } from './export.ts';

const rowsPerInsert = 64;
const charactersPerInsert = 1024 * 1024;

const headSchema = z.strictObject({ convoke_export: z.number(), schema: z.number() });
const tableSchema = z.strictObject({ table: z.string(), columns: z.array(z.string()) });
const countSchema = z.strictObject({ rows: z.number() });
const endSchema = z.strictObject({ sha256: z.string() });
const rowSchema = z.array(z.union([z.string(), z.int(), z.null()]));

export interface ImportedRows {
  readonly tables: number;
  readonly rows: number;
}

/**
 * Imports an export into an empty database of the same schema. Commits only when every table, the number of its rows
 * and the digest are right; otherwise nothing is kept.
 */
export async function importLines(
  target: TransferConnection,
  schema: number,
  lines: AsyncIterable<string>,
): Promise<ImportedRows> {
  const tables = new Map((await target.tables()).map((table) => [table.name, table]));
  await refuseRows(target, tables.values());
  const source = new ExportReader(lines);
  refuseOther(await source.next(headSchema, 'the head of an export'), schema);
  let rows = 0;
  while (tables.size > 0) {
    const { table: name, columns } = await source.next(tableSchema, 'a table');
    const known = tables.get(name);
    if (known?.columns.toSorted().join() !== columns.toSorted().join()) {
      throw new Error(`line ${source.line}: this database has no such table ${name}`);
    }
    tables.delete(name);
    rows += await importRows(target, { name, columns }, source);
  }
  await source.end();
  await target.commit();
  return { tables: (await target.tables()).length, rows };
}

async function importRows(
  target: TransferConnection,
  table: TransferTable,
  source: ExportReader,
): Promise<number> {
  let batch: TransferRow[] = [];
  let characters = 0;
  let rows = 0;
  const write = async () => {
    if (batch.length > 0) await target.insert(table, batch);
    rows += batch.length;
    batch = [];
    characters = 0;
  };
  for (let row = await source.row(table); row !== undefined; row = await source.row(table)) {
    batch.push(row);
    characters += source.length;
    if (batch.length >= rowsPerInsert || characters >= charactersPerInsert) await write();
  }
  await write();
  const { rows: expected } = await source.next(countSchema, 'the number of rows');
  if (rows !== expected || (await target.count(table)) !== expected) {
    throw new Error(`${table.name}: ${expected} rows were exported, but ${rows} arrived`);
  }
  return rows;
}

/** Reads an export line by line and computes the digest of the lines read. */
class ExportReader {
  readonly #lines: AsyncIterator<string>;
  readonly #hash = createHash('sha256');
  #ahead: string | undefined;
  #digest = '';
  line = 0;
  length = 0;

  constructor(lines: AsyncIterable<string>) {
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async next<T>(schema: z.ZodType<T>, what: string): Promise<T> {
    const text = await this.#peek();
    if (text === undefined) throw new Error('the export is truncated: nothing was imported');
    const parsed = schema.safeParse(parseJson(text));
    if (!parsed.success) throw new Error(`line ${this.line}: expected ${what}`);
    this.#take(text);
    return parsed.data;
  }

  /** The next row of the table; undefined when the next line is not a row. */
  async row({ columns }: TransferTable): Promise<TransferRow | undefined> {
    const text = await this.#peek();
    if (text?.startsWith('[') !== true) return undefined;
    const parsed = rowSchema.length(columns.length).safeParse(parseJson(text));
    if (!parsed.success)
      throw new Error(`line ${this.line}: not a row of ${columns.length} values`);
    this.#take(text);
    return parsed.data;
  }

  async end(): Promise<void> {
    this.#digest = this.#hash.copy().digest('hex');
    const { sha256 } = await this.next(endSchema, 'the digest');
    if (sha256 !== this.#digest)
      throw new Error('the export was modified: its digest does not match');
    if ((await this.#peek()) !== undefined)
      throw new Error(`line ${this.line}: unexpected text after the end of the export`);
  }

  async #peek(): Promise<string | undefined> {
    if (this.#ahead !== undefined) return this.#ahead;
    const next = await this.#lines.next();
    if (next.done === true) return undefined;
    this.line += 1;
    this.#ahead = next.value;
    return next.value;
  }

  #take(text: string): void {
    this.#hash.update(`${text}\n`);
    this.length = text.length;
    this.#ahead = undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function refuseRows(
  target: TransferConnection,
  tables: Iterable<TransferTable>,
): Promise<void> {
  for (const table of tables) {
    if ((await target.count(table)) === 0) continue;
    throw new Error(
      `the database is not empty (${table.name} has rows): import into a fresh one, before a server starts on it`,
    );
  }
}

function refuseOther(head: z.infer<typeof headSchema>, schema: number): void {
  if (head.convoke_export !== transferFormat) {
    throw new Error(
      `the export has format ${head.convoke_export}, but this release reads ${transferFormat}`,
    );
  }
  if (head.schema !== schema) {
    throw new Error(
      `the export has schema ${head.schema}, but this release has ${schema}: export and import with the same release`,
    );
  }
}
