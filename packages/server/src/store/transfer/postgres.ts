import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { partitionAt } from '../../domain/event-partition.ts';
import { timeOfText } from '../../domain/id-time.ts';
import { numbersAsNumbers } from '../dialects/postgres.ts';
import { attachPartitionSql } from '../event-partitions.ts';
import type { TransferConnection, TransferMode, TransferRow, TransferTable } from './connection.ts';

const rowsPerFetch = 64;
/** Five years of weekly partitions; older events are outside any and are deleted row by row. */
const partitionsMax = 260;

const beginSql: Record<TransferMode, string> = {
  read: 'begin isolation level repeatable read read only',
  write: `begin; select pg_advisory_xact_lock(hashtext('convoke schema migrations'))`,
};

const lookPauseMs = 250;
const looksMax = 8;

/**
 * Counts the connections of servers to the database. A server always has some; those of a command that has just ended
 * are gone after a moment, so it looks again before it reports any.
 */
export async function countServerConnections(url: string): Promise<number> {
  const client = new Client({ connectionString: url, application_name: 'convoke transfer' });
  client.on('error', () => {});
  await client.connect();
  try {
    for (let looks = 1; ; looks += 1) {
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and application_name in ('convoke', 'convoke wake-ups')`,
      );
      const count = rows[0]?.n ?? 0;
      if (count === 0 || looks === looksMax) return count;
      await setTimeout(lookPauseMs);
    }
  } finally {
    await client.end();
  }
}

export class PostgresTransfer implements TransferConnection {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(url: string, mode: TransferMode): Promise<PostgresTransfer> {
    const client = new Client({
      connectionString: url,
      application_name: 'convoke transfer',
      types: numbersAsNumbers(),
    });
    client.on('error', () => {});
    await client.connect();
    await client.query(`${beginSql[mode]}; set local convoke.tenant = '*'`);
    return new PostgresTransfer(client);
  }

  async tables(): Promise<TransferTable[]> {
    // In the order of creation, so that no table refers to a later one.
    const { rows } = await this.#client.query<TransferTable>(`
      select relname as name, array_agg(attname::text order by attnum) as columns
      from pg_class join pg_attribute on attrelid = pg_class.oid
      where relkind in ('r', 'p') and not relispartition and relname <> 'schema_migrations'
        and relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped
      group by pg_class.oid, relname order by pg_class.oid`);
    return rows;
  }

  async *rows({ name, columns }: TransferTable): AsyncGenerator<TransferRow> {
    await this.#client.query(
      `declare transfer no scroll cursor for select ${columns.join(', ')} from ${name}`,
    );
    const fetch = { text: `fetch ${rowsPerFetch} from transfer`, rowMode: 'array' as const };
    for (;;) {
      const { rows } = await this.#client.query<(string | number | null)[]>(fetch);
      yield* rows;
      if (rows.length < rowsPerFetch) break;
    }
    await this.#client.query('close transfer');
  }

  async count({ name }: TransferTable): Promise<number> {
    const { rows } = await this.#client.query<{ n: number }>(`select count(*) as n from ${name}`);
    return rows[0]?.n ?? 0;
  }

  async insert({ name, columns }: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    if (name === 'run_events') await this.#preparePartitions();
    let placeholders = 0;
    const values = rows.map((row) => `(${row.map(() => `$${(placeholders += 1)}`).join(', ')})`);
    const text = `insert into ${name} (${columns.join(', ')}) values ${values.join(', ')}`;
    // Most batches of a table have the same size, so their text is parsed once.
    await this.#client.query({ name: `${name} ${rows.length}`, text, values: rows.flat() });
  }

  async commit(): Promise<void> {
    // The next notice must not get a position that an imported one has.
    await this.#client.query(
      `select setval(pg_get_serial_sequence('outbox', 'position'), max(position)) from outbox`,
    );
    await this.#client.query('commit');
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  /** Runs are imported before their events, so the weeks are known by now. */
  #preparePartitions(): Promise<void> {
    this.#partitions ??= this.#attachPartitions();
    return this.#partitions;
  }

  #partitions: Promise<void> | undefined;

  async #attachPartitions(): Promise<void> {
    const { rows } = await this.#client.query<{ first: string | null; last: string | null }>(
      `select min(id) as first, max(id) as last from runs where id ~ '^run_[0-9a-z]{26}$'`,
    );
    const [{ first, last } = { first: null, last: null }] = rows;
    if (first === null || last === null) return;
    const { from: oldest } = partitionAt(timeOf(first));
    let partition = partitionAt(timeOf(last));
    for (let made = 0; made < partitionsMax && partition.from >= oldest; made += 1) {
      await this.#client.query(attachPartitionSql(partition));
      partition = partitionAt(partition.from - 1);
    }
  }
}

function timeOf(runId: string): number {
  return timeOfText(runId.slice('run_'.length, 'run_'.length + 10));
}
