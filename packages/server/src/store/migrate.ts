import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isLockTimeout } from './lock-timeout.ts';
import type { Database, Transaction } from './sql-database.ts';
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

/** A row of `schema_migrations`. */
export interface AppliedMigration {
  version: number;
  name: string;
}

interface Migration extends AppliedMigration {
  path: string;
}

const appliedQuery = sql`select version, name from schema_migrations order by version`;

/**
 * Thrown for a database that has other migrations than this release, such as every one from before the first (D-290).
 */
export class OtherHistory extends Error {
  readonly problem: string;
  readonly remedy =
    'data from before the first release is not read: start with an empty data folder or database';

  constructor(there: AppliedMigration, here: AppliedMigration) {
    const problem = `the database was written by an earlier commit of Convoke: it has the migration ${labelOf(there)} instead of ${labelOf(here)}`;
    super();
    this.problem = problem;
    this.message = `${problem}; ${this.remedy}`;
  }
}

/** The schema of a database compared with the one of this release. */
export interface SchemaState {
  readonly version: number;
  readonly known: number;
  /** The migrations to apply, in order, such as `0002-session-notes`. */
  readonly pending: readonly string[];
}

/** Reads the state of the schema; changes nothing. */
export async function schemaState(
  database: MigratableDatabase,
  folder: string,
): Promise<SchemaState> {
  return stateOf(await appliedMigrations(database), folder);
}

/** The same of the rows of `schema_migrations`, in the order of their versions. */
export function stateOf(applied: readonly AppliedMigration[], folder: string): SchemaState {
  const migrations = readMigrations(folder);
  refuseOtherHistory(applied, migrations);
  const version = lastVersion(applied);
  const pending = migrations.filter((each) => each.version > version).map(labelOf);
  return { version, known: migrations.length, pending };
}

/**
 * Applies the migrations `0001-name.sql` of the folder that are pending: forward only, one transaction for each file
 * and its record. Idempotent, and safe when two replicas run it at once. Throws if a newer release has already migrated
 * the database, or one with other migrations. Calls `onApplied` after each file.
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
    const applied = await tx.all<AppliedMigration>(appliedQuery);
    refuseOtherHistory(applied, migrations);
    refuseNewer(lastVersion(applied), migrations, folder);
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

async function appliedMigrations(
  database: MigratableDatabase,
): Promise<readonly AppliedMigration[]> {
  const tables =
    database.dialect === 'sqlite'
      ? sql`select name from sqlite_master where name = 'schema_migrations'`
      : sql`select relname as name from pg_class where oid = to_regclass('schema_migrations')`;
  return (await database.get(tables)) === undefined ? [] : database.all(appliedQuery);
}

/** 0 if no migration was ever applied. */
function lastVersion(applied: readonly AppliedMigration[]): number {
  return applied.at(-1)?.version ?? 0;
}

function labelOf({ version, name }: AppliedMigration): string {
  return `${String(version).padStart(4, '0')}-${name}`;
}

/** Returns false when it was applied before. */
async function apply(tx: MigrationTransaction, migration: Migration): Promise<boolean> {
  await tx.lockMigrations();
  const { version, name } = migration;
  const applied = await tx.get<AppliedMigration>(
    sql`select version, name from schema_migrations where version = ${version}`,
  );
  if (applied !== undefined) {
    refuseOtherHistory([applied], [migration]);
    return false;
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

function refuseOtherHistory(
  applied: readonly AppliedMigration[],
  migrations: readonly AppliedMigration[],
): void {
  const names = new Map(migrations.map(({ version, name }) => [version, name]));
  for (const there of applied) {
    const name = names.get(there.version) ?? there.name;
    if (name !== there.name) throw new OtherHistory(there, { ...there, name });
  }
}

function refuseNewer(version: number, migrations: readonly Migration[], folder: string): void {
  if (version <= migrations.length) return;
  throw new Error(
    `the database has schema version ${version}, but this release knows only ${migrations.length} (${folder}); start the newer release again`,
  );
}
