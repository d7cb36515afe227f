import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** What is written when somebody is refused or a token is used: that is their purpose. */
const witnesses = new Set(['audit_rows', 'audit_heads']);
const marks: Readonly<Record<string, readonly string[]>> = {
  credentials: ['last_used_at'],
  runs: ['lease_expires_at'],
};

/** A digest of each table's rows, by its name, read past the server from its SQLite file. */
function tableDigests(server: TestServer): Record<string, string> {
  const database = new DatabaseSync(join(server.config.dataDir, 'convoke.db'), { readOnly: true });
  try {
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' order by name")
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !witnesses.has(name));
    return Object.fromEntries(tables.map((name) => [name, digest(database, name)]));
  } finally {
    database.close();
  }
}

/** The digests once nothing goes on any more: several looks in a row are equal. */
export async function restingDigests(server: TestServer): Promise<Record<string, string>> {
  let last = '';
  let equalLooks = 0;
  return eventually(() => {
    const digests = tableDigests(server);
    const text = JSON.stringify(digests);
    equalLooks = text === last ? equalLooks + 1 : 0;
    last = text;
    return equalLooks >= 20 && digests;
  });
}

export function changedTables(
  before: Record<string, string>,
  after: Record<string, string>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]);
}

function digest(database: DatabaseSync, table: string): string {
  const rows = database
    .prepare(`select * from ${table}`)
    .all()
    .map((row) => JSON.stringify(withoutMarks(table, row)));
  const hash = createHash('sha256').update(rows.sort().join('\n')).digest('hex');
  return `${rows.length} rows, ${hash}`;
}

function withoutMarks(table: string, row: Record<string, unknown>): Record<string, unknown> {
  const left = marks[table] ?? [];
  return Object.fromEntries(Object.entries(row).filter(([name]) => !left.includes(name)));
}
