import { createHash } from 'node:crypto';
import { openTransfer } from '../../src/operate/transfer.ts';
import type { TransferConnection, TransferTable } from '../../src/store/transfer/connection.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Tables that are written on every refusal and every use of a token, by design. */
const witnesses = new Set(['audit_rows', 'audit_heads', 'audit_checks']);
const marks: Readonly<Record<string, readonly string[]>> = {
  credentials: ['last_used_at'],
  runs: ['lease_expires_at'],
};

/** A digest of each table's rows, by its name, read past the server from its database. */
async function tableDigests(server: TestServer): Promise<Record<string, string>> {
  const database = await openTransfer(server.config, 'read');
  try {
    const digests: Record<string, string> = {};
    for (const table of await database.tables()) {
      if (!witnesses.has(table.name)) digests[table.name] = await digest(database, table);
    }
    return digests;
  } finally {
    await database.close();
  }
}

/** The digests once the server is idle: several reads in a row are equal. */
export async function restingDigests(server: TestServer): Promise<Record<string, string>> {
  let last = '';
  let equalReads = 0;
  return eventually(async () => {
    const digests = await tableDigests(server);
    const text = JSON.stringify(digests);
    equalReads = text === last ? equalReads + 1 : 0;
    last = text;
    return equalReads >= 20 && digests;
  });
}

export function changedTables(
  before: Record<string, string>,
  after: Record<string, string>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]);
}

async function digest(database: TransferConnection, table: TransferTable): Promise<string> {
  const left = marks[table.name] ?? [];
  const columns = table.columns.filter((name) => !left.includes(name));
  const rows: string[] = [];
  for await (const row of database.rows({ ...table, columns })) rows.push(JSON.stringify(row));
  const hash = createHash('sha256').update(rows.sort().join('\n')).digest('hex');
  return `${rows.length} rows, ${hash}`;
}
