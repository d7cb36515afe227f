import { createHash } from 'node:crypto';
import { openTransfer } from '../../src/operate/transfer.ts';
import type {
  TransferConnection,
  TransferRow,
  TransferTable,
} from '../../src/store/transfer/connection.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Tables that are written on every refusal and every use of a token, by design. */
const witnesses = new Set(['audit_rows', 'audit_heads', 'audit_checks']);
const marks: Readonly<Record<string, readonly string[]>> = {
  credentials: ['last_used_at'],
  runs: ['lease_expires_at'],
};

/**
 * The server removes a row whose time is over, which no request has to cause. Each row has a digest of its own here.
 */
const expiring = 'identity_records';

/** A column whose value says that a background pass of the server, once a second, is going to change the row. */
const dueMarks: Readonly<Record<string, { readonly column: string; readonly due: number }>> = {
  runs: { column: 'is_usage_due', due: 1 },
  usage_entries: { column: 'is_counted', due: 0 },
};

interface Digests {
  readonly ofTables: Record<string, string>;
  /** Whether a background pass has work left. */
  readonly hasDueRows: boolean;
}

/**
 * A digest of each table's rows, by its name, read past the server from its database; of rows that expire their time,
 * by the table's name and their digest.
 */
async function tableDigests(server: TestServer): Promise<Digests> {
  const database = await openTransfer(server.config, 'read');
  try {
    const ofTables: Record<string, string> = {};
    let hasDueRows = false;
    for (const table of await database.tables()) {
      if (witnesses.has(table.name)) continue;
      const rows = await rowsOf(database, table);
      if (table.name === expiring) Object.assign(ofTables, expiries(table, rows));
      else ofTables[table.name] = digest(rows);
      hasDueRows ||= table.name === 'outbox' ? rows.length > 0 : isAnyDue(table, rows);
    }
    return { ofTables, hasDueRows };
  } finally {
    await database.close();
  }
}

/** The digests once the server is idle: several reads in a row are equal, and no background pass has work left. */
export async function restingDigests(server: TestServer): Promise<Record<string, string>> {
  let last = '';
  let equalReads = 0;
  return eventually(async () => {
    const { ofTables, hasDueRows } = await tableDigests(server);
    const text = JSON.stringify(ofTables);
    equalReads = text === last ? equalReads + 1 : 0;
    last = text;
    return equalReads >= 20 && !hasDueRows && ofTables;
  });
}

export function changedTables(
  before: Record<string, string>,
  after: Record<string, string>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const hasExpired = (name: string) =>
    name.startsWith(`${expiring} `) &&
    after[name] === undefined &&
    Number(before[name]) <= Date.now();
  return [...names].filter((name) => before[name] !== after[name] && !hasExpired(name));
}

function expiries(table: TransferTable, rows: readonly TransferRow[]): Record<string, string> {
  const at = table.columns.indexOf('expires_at');
  return Object.fromEntries(rows.map((row) => [`${table.name} ${digest([row])}`, String(row[at])]));
}

/** The rows without the columns that change at rest, which are null. */
async function rowsOf(database: TransferConnection, table: TransferTable): Promise<TransferRow[]> {
  const left = marks[table.name] ?? [];
  const rows: TransferRow[] = [];
  for await (const row of database.rows(table)) {
    rows.push(row.map((value, at) => (left.includes(table.columns[at] ?? '') ? null : value)));
  }
  return rows;
}

function isAnyDue(table: TransferTable, rows: readonly TransferRow[]): boolean {
  const mark = dueMarks[table.name];
  if (mark === undefined) return false;
  const at = table.columns.indexOf(mark.column);
  return rows.some((row) => Number(row[at]) === mark.due);
}

function digest(rows: readonly TransferRow[]): string {
  const texts = rows.map((row) => JSON.stringify(row)).sort();
  return `${rows.length} rows, ${createHash('sha256').update(texts.join('\n')).digest('hex')}`;
}
