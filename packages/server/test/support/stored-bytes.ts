import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { DatabaseKind } from './databases.ts';
import type { TestServer } from './server.ts';

/** Everything that is stored, as bytes: files of the data folder, and the rows of PostgreSQL. */
export async function storedBytes(server: TestServer, database: DatabaseKind): Promise<Buffer[]> {
  const { dataDir, databaseUrl } = server.config;
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    // The one file that is meant to contain a secret.
    .filter((entry) => entry.isFile() && entry.name !== 'quickstart.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  return database === 'sqlite' ? files : [...files, await rowsOf(databaseUrl ?? '')];
}

async function rowsOf(url: string): Promise<Buffer> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(`select * from "${name}"`);
      texts.push(`${name}\n${rows.map((row) => JSON.stringify(row)).join('\n')}`);
    }
    return Buffer.from(texts.join('\n'));
  } finally {
    await client.end();
  }
}
