import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { createPlainDatabase } from '../../support/postgres-databases.ts';
import { removeFolderSync } from '../../../../../test/remove-folder.ts';
import { postgresUrl } from '../../../../../test/services.ts';

/** What SQLite itself says of the files a killed process left: asked of a copy, so that nothing is repaired. */
export function integrityOf(dataDir: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-copy-'));
  try {
    for (const name of ['convoke.db', 'convoke.db-wal']) {
      if (existsSync(join(dataDir, name))) cpSync(join(dataDir, name), join(folder, name));
    }
    const database = new DatabaseSync(join(folder, 'convoke.db'));
    const row = database.prepare('pragma integrity_check').get();
    database.close();
    return row?.['integrity_check'];
  } finally {
    removeFolderSync(folder);
  }
}

export interface OwnDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of the PostgreSQL the tests share. */
export async function createDatabase(): Promise<OwnDatabase> {
  const name = `convoke_fault_${process.pid}_${Date.now()}`;
  const url = await createPlainDatabase(name);
  return {
    name,
    url,
    drop: async () => void (await query(postgresUrl(), `drop database ${name} with (force)`)),
  };
}

/** Asks as one who may see the rows of every tenant. */
export async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // The test may be about to stop the database that this is connected to.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`set convoke.tenant = '*'`);
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
