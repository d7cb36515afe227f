import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isLockTimeout } from './lock-timeout.ts';
import type { Database, Reader, Transaction } from './sql-database.ts';
import { sql } from './sql.ts';

/**
 * While a migration waits for the lock of a table, all statements on that table queue behind it. So a migration waits a
 * second, rolls back and retries, this many times; then it fails and leaves the table unchanged.
 */
const attemptsMax = 30;
const pauseMs = 1_000;

/** A transaction that can also run migrations. */
export interface MigrationTransaction extends Transaction {
  /**
   * Takes the migration lock until the commit, waiting for as long as another process migrates. After that the
   * transaction waits at most a second for any other lock.
   */
  lockMigrations(): Promise<void>;
  /** Runs SQL text of several statements. */
  script(text: string): Promise<void>;
}

export interface MigratableDatabase extends Database {
  transaction<T>(work: (tx: MigrationTransaction) => Promise<T>): Promise<T>;
  /** Called once, when no migration is left to run: a migration may sort more than fits into memory. */
  migrated?(): void;
  /** See `Store.inTenantScope`. */
  inTenantScope<T>(tenantId: string, work: () => T): T;
}

interface Migration {
  version: number;
  name: string;
  path: string;
}

/** The schema of a database compared with the one of this release. */
export interface SchemaState {
  readonly version: number;
  readonly known: number;
  /** The migrations to apply, in order, such as `0002-audit`. */
  readonly pending: readonly string[];
}

/** Reads the state of the schema; changes nothing. */
export async function schemaState(
  database: MigratableDatabase,
  folder: string,
): Promise<SchemaState> {
  const migrations = readMigrations(folder);
  const version = await appliedVersion(database);
  const pending = migrations.filter((each) => each.version > version).map(labelOf);
  return { version, known: migrations.length, pending };
}

/**
 * Applies the migrations `0001-name.sql` of the folder that are pending: forward only, one transaction for each file
 * and its record. Idempotent, and safe when two replicas run it at once. Throws if a newer release has already migrated
 * the database. Calls `onApplied` after each file.
 */
export async function migrate(
  database: MigratableDatabase,
  folder: string,
  onApplied: (name: string) => void = () => {},
): Promise<void> {
  const migrations = readMigrations(folder);
  await database.transaction(async (tx) => {
    await tx.lockMigrations();
    await tx.script(
      'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at bigint not null)',
    );
    refuseNewer(await lastVersion(tx), migrations, folder);
  });
  for (const migration of migrations) {
    if (await applyWithRetries(database, migration)) onApplied(labelOf(migration));
  }
}

async function applyWithRetries(
  database: MigratableDatabase,
  migration: Migration,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction((tx) => apply(tx, migration));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt === attemptsMax) {
        const reason = `${labelOf(migration)} found its tables locked ${attemptsMax} times; end the sessions that hold the locks (see pg_stat_activity) and start again`;
        throw new Error(reason, { cause: error });
      }
    }
    await setTimeout(pauseMs);
  }
}

/** 0 if no migration was ever applied. */
async function appliedVersion(database: MigratableDatabase): Promise<number> {
  const tables =
    database.dialect === 'sqlite'
      ? sql`select name from sqlite_master where name = 'schema_migrations'`
      : sql`select relname as name from pg_class where oid = to_regclass('schema_migrations')`;
  return (await database.get(tables)) === undefined ? 0 : lastVersion(database);
}

async function lastVersion(reader: Reader): Promise<number> {
  const last = await reader.get<{ version: number | null }>(
    sql`select max(version) as version from schema_migrations`,
  );
  return last?.version ?? 0;
}

function labelOf({ version, name }: Migration): string {
  return `${String(version).padStart(4, '0')}-${name}`;
}

/** Returns false when it was applied before. */
async function apply(tx: MigrationTransaction, migration: Migration): Promise<boolean> {
  await tx.lockMigrations();
  const { version, name } = migration;
  const applied = await tx.get<{ name: string }>(
    sql`select name from schema_migrations where version = ${version}`,
  );
  if (applied?.name === name) return false;
  if (applied !== undefined) {
    throw new Error(
      `migration ${version} was applied as "${applied.name}", but ${migration.path} has that number now`,
    );
  }
  await tx.script(readFileSync(migration.path, 'utf8'));
  await tx.run(
    sql`insert into schema_migrations (version, name, applied_at) values (${version}, ${name}, ${Date.now()})`,
  );
  return true;
}

function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file, index) => {
    const [, digits, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? [];
    if (digits === undefined || name === undefined || Number(digits) !== index + 1) {
      const expected = String(index + 1).padStart(4, '0');
      throw new Error(
        `${join(folder, file)}: the next migration must be named ${expected}-name.sql`,
      );
    }
    return { version: Number(digits), name, path: join(folder, file) };
  });
}

function refuseNewer(version: number, migrations: readonly Migration[], folder: string): void {
  if (version <= migrations.length) return;
  throw new Error(
    `the database has schema version ${version}, but this release knows only ${migrations.length} (${folder}); start the newer release again`,
  );
}
