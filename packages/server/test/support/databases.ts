import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { openPostgres } from '../../src/store/dialects/postgres.ts';
import { openSqlite } from '../../src/store/dialects/sqlite.ts';
import { migrate, type MigratableDatabase } from '../../src/store/migrate.ts';
import { copyMigratedSqlite, createMigratedPostgres } from './migrated-databases.ts';
import { administer, createPostgresDatabase, testConnections } from './postgres-databases.ts';
import { databaseName } from './run-databases.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** Whether this is `npm run test:quick`, which runs on SQLite only what runs on every database. */
export const isQuick = process.env['CONVOKE_TEST_QUICK'] !== undefined;

export const databaseKinds: readonly DatabaseKind[] = isQuick ? ['sqlite'] : ['sqlite', 'postgres'];

interface TestDatabaseOptions {
  /** A folder of migrations; without one the database starts empty. */
  migrations?: string;
  /** Path or URL; without one, a new database. */
  location?: string;
  /** Receives what is logged. */
  report?: (message: string, error: unknown) => void;
}

/** Opens a new database with the real driver; closed and removed after the file's tests. */
export async function openTestDatabase(
  kind: DatabaseKind,
  options: TestDatabaseOptions = {},
): Promise<MigratableDatabase> {
  const location = options.location ?? (await createLocation(kind));
  const report = options.report ?? (() => {});
  const database =
    kind === 'postgres'
      ? await openPostgres({ url: location, report, poolSize: Number(testConnections) })
      : await openSqlite({ path: location, report, onFatal: endLoudly });
  atFileEnd(() => database.close().catch(() => {}));
  if (options.migrations !== undefined) await migrate(database, options.migrations);
  return database;
}

/** The path of an empty SQLite database or the URL of an empty PostgreSQL one, that no other test uses. */
export async function createLocation(kind: DatabaseKind): Promise<string> {
  return kind === 'sqlite' ? newPath() : newPostgres(createPostgresDatabase);
}

/** The same with the migrations of this release applied. */
export async function createMigratedLocation(kind: DatabaseKind): Promise<string> {
  if (kind === 'postgres') return newPostgres(createMigratedPostgres);
  const path = newPath();
  await copyMigratedSqlite(path);
  return path;
}

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-test-'));
  atFileEnd(() => removeFolderSync(folder));
  return join(folder, 'convoke.db');
}

async function newPostgres(create: (name: string) => Promise<string>): Promise<string> {
  const name = databaseName('test');
  const url = await create(name);
  atFileEnd(() => administer(`drop database ${name} with (force)`));
  return url;
}

function endLoudly(error: unknown): never {
  throw new Error('an fsync failed during a test', { cause: error });
}
