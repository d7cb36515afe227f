import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../config/config.ts';
import { duration } from './background.ts';
import { connectTimeoutMs } from './database.ts';
import { type Finding, warned } from './finding.ts';

/** The pass that settles waits begins every second. */
const overdueAfterMs = 60_000;
const countMax = 1000;

interface Overdue {
  readonly n: number;
  /** How long the oldest has been over; null where there is none. */
  readonly late: number | null;
}

/**
 * Warns of times that runs wait for and that are over (D-915). A database that cannot be read is a finding of its own.
 */
export async function examineWaits({ databaseUrl, dataDir }: Config): Promise<readonly Finding[]> {
  const path = join(dataDir, 'convoke.db');
  if (databaseUrl === undefined && !existsSync(path)) return [];
  try {
    const asked = databaseUrl === undefined ? askSqlite(path) : await askPostgres(databaseUrl);
    return asked === undefined || asked.late === null ? [] : [findingOf(asked.n, asked.late)];
  } catch {
    return [];
  }
}

function findingOf(n: number, late: number): Finding {
  const many = n === countMax ? `${countMax} or more times` : `${n} times`;
  const text =
    n === 1
      ? `a time that a run waits for has been over for ${duration(late)}`
      : `${many} that runs wait for are over, the oldest for ${duration(late)}`;
  return warned(
    'waits',
    text,
    'a server with the role worker settles them: start one, or see its log for the pass "settle waits"',
  );
}

function queryAt(now: string): string {
  return `select count(*) as n, ${now} - min(due_at) as late from (
    select due_at from waits where status = 'open' and due_at < ${now} - ${overdueAfterMs}
    order by due_at limit ${countMax}) as overdue`;
}

function askSqlite(path: string): Overdue | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const row = database.prepare(queryAt(String(Date.now()))).get();
    return overdueIn(row);
  } finally {
    database.close();
  }
}

/** By the database's clock, as the pass. */
async function askPostgres(url: string): Promise<Overdue | undefined> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  try {
    await client.connect();
    await client.query("select set_config('convoke.tenant', '*', false)");
    const now = '(extract(epoch from now()) * 1000)::bigint';
    const { rows } = await client.query<Row>(queryAt(now));
    return overdueIn(rows[0]);
  } finally {
    await client.end();
  }
}

type Row = Readonly<Record<string, unknown>>;

/** PostgreSQL's big numbers are texts. */
function overdueIn(row: Row | undefined): Overdue | undefined {
  if (row === undefined) return undefined;
  const { n, late } = row;
  return { n: Number(n), late: late === null ? null : Number(late) };
}
