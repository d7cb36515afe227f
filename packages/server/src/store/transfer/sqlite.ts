import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { TransferConnection, TransferMode, TransferRow, TransferTable } from './connection.ts';

/** How long to wait for a server that is writing. */
const busyTimeoutMs = 10_000;

export class SqliteTransfer implements TransferConnection {
  readonly #handle: DatabaseSync;
  readonly #inserts = new Map<string, StatementSync>();

  constructor(path: string, mode: TransferMode) {
    this.#handle = new DatabaseSync(path, {
      readOnly: mode === 'read',
      timeout: busyTimeoutMs,
      enableForeignKeyConstraints: true,
    });
    this.#handle.exec(mode === 'read' ? 'begin' : 'begin immediate');
  }

  async tables(): Promise<TransferTable[]> {
    // In the order of creation, so that no table refers to a later one.
    const names = this.#handle
      .prepare(
        `select name from sqlite_master
         where type = 'table' and name <> 'schema_migrations' and name not like 'sqlite_%'
         order by rowid`,
      )
      .all();
    return names.map(({ name }) => ({ name: String(name), columns: this.#columns(String(name)) }));
  }

  async *rows({ name, columns }: TransferTable): AsyncGenerator<TransferRow> {
    const statement = this.#handle.prepare(`select ${columns.join(', ')} from ${name}`);
    statement.setReturnArrays(true);
    for (const row of statement.iterate()) yield row as unknown as TransferRow;
  }

  async count({ name }: TransferTable): Promise<number> {
    return Number(this.#handle.prepare(`select count(*) as n from ${name}`).get()?.['n']);
  }

  async insert({ name, columns }: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    const placeholders = columns.map(() => '?').join(', ');
    const text = `insert into ${name} (${columns.join(', ')}) values (${placeholders})`;
    const statement = this.#inserts.get(text) ?? this.#handle.prepare(text);
    this.#inserts.set(text, statement);
    for (const row of rows) statement.run(...row);
  }

  async commit(): Promise<void> {
    this.#handle.exec('commit');
  }

  async close(): Promise<void> {
    if (this.#handle.isTransaction) this.#handle.exec('rollback');
    this.#handle.close();
  }

  #columns(table: string): string[] {
    const rows = this.#handle.prepare('select name from pragma_table_info(?)').all(table);
    return rows.map(({ name }) => String(name));
  }
}
