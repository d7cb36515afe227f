// Creating the schema takes a good part of the time of a small test. So the first test that needs a migrated database
// makes one, and every other database of the run is a copy of it.
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresUrl } from '../../../../test/services.ts';
import { migrationsFolder } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/dialects/postgres.ts';
import { openSqlite } from '../../src/store/dialects/sqlite.ts';
import { type MigratableDatabase, migrate } from '../../src/store/migrate.ts';
import { migratedFolder } from './migrated-folder.ts';
import { createPostgresDatabase } from './postgres-databases.ts';
import { databaseName } from './run-databases.ts';

/** Puts a migrated database where a server will look for one. Does nothing outside a run that shares one. */
export async function copyMigratedSqlite(path: string): Promise<void> {
  const folder = migratedFolder();
  if (folder === undefined) return;
  await copyFile(await (sqliteMade ??= makeSqlite(folder)), path);
}

/** Creates a database and returns its URL; it is migrated in a run that shares one, and otherwise empty. */
export async function createMigratedPostgres(name: string): Promise<string> {
  if (migratedFolder() === undefined) return createPostgresDatabase(name);
  return createPostgresDatabase(name, await (postgresMade ??= makePostgres()));
}

// Each process looks once; all of them find what the first one made.
let sqliteMade: Promise<string> | undefined;
let postgresMade: Promise<string> | undefined;

async function makeSqlite(folder: string): Promise<string> {
  const path = join(folder, 'convoke.db');
  if (existsSync(path)) return path;
  // Another process may do the same: each makes its own, and the name is given to a whole one.
  const draft = join(await mkdtemp(join(folder, 'draft-')), 'convoke.db');
  await migrateAndClose(await openSqlite({ path: draft, report: () => {}, onFatal: endLoudly }));
  if (existsSync(`${draft}-wal`)) throw new Error(`${draft} was closed without a checkpoint`);
  await rename(draft, path);
  return path;
}

/** The lock of PostgreSQL ends with the process that holds it, so no test waits for one that died. */
async function makePostgres(): Promise<string> {
  const name = databaseName('migrated');
  const client = new Client({ connectionString: postgresUrl() });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const finished = 'select 1 from pg_database where datname = $1 and not datallowconn';
    if ((await client.query(finished, [name])).rowCount === 1) return name;
    await client.query(`drop database if exists ${name}`);
    const url = await createPostgresDatabase(name);
    await migrateAndClose(await openPostgres({ url, report: () => {}, poolSize: 1 }));
    // PostgreSQL copies only a database to which no session is connected.
    await client.query(`alter database ${name} allow_connections false`);
    return name;
  } finally {
    await client.end();
  }
}

async function migrateAndClose(database: MigratableDatabase): Promise<void> {
  await migrate(database, migrationsFolder(database.dialect));
  await database.close();
}

function endLoudly(error: unknown): never {
  throw new Error('an fsync failed during a test', { cause: error });
}
