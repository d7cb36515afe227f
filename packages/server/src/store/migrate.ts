import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Transaction } from '../ports/database.ts';
import { sql } from './sql.ts';

/** What a migration needs beyond a transaction. Both dialects give it; the port does not show it. */
export interface MigrationTransaction extends Transaction {
  /** Waits, for as long as it takes, until no other process migrates; lasts until the commit. */
  alone(): Promise<void>;
  /** Runs SQL text of several statements. */
  script(text: string): Promise<void>;
}

export interface MigratableDatabase extends Database {
  transaction<T>(work: (tx: MigrationTransaction) => Promise<T>): Promise<T>;
  /** What `Store.confine` promises. */
  confine<T>(tenantId: string, work: () => T): T;
}

interface Migration {
  version: number;
  name: string;
  path: string;
}

/**
 * Brings the schema up to the last `0001-name.sql` of the folder: forward only, one transaction per
 * file together with its record. Harmless when run twice or by two replicas at once; refuses a
 * database that a newer release has already moved on.
 */
export async function migrate(database: MigratableDatabase, folder: string): Promise<void> {
  const migrations = readMigrations(folder);
  await database.transaction(async (tx) => {
    await tx.alone();
    await tx.script(
      'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at bigint not null)',
    );
    const last = await tx.get<{ version: number | null }>(
      sql`select max(version) as version from schema_migrations`,
    );
    refuseNewer(last?.version ?? 0, migrations, folder);
  });
  for (const migration of migrations) {
    await database.transaction((tx) => apply(tx, migration));
  }
}

async function apply(tx: MigrationTransaction, migration: Migration): Promise<void> {
  await tx.alone();
  const { version, name } = migration;
  const applied = await tx.get<{ name: string }>(
    sql`select name from schema_migrations where version = ${version}`,
  );
  if (applied?.name === name) return;
  if (applied !== undefined) {
    throw new Error(
      `migration ${version} was applied as "${applied.name}", but ${migration.path} has that number now`,
    );
  }
  await tx.script(readFileSync(migration.path, 'utf8'));
  await tx.run(
    sql`insert into schema_migrations (version, name, applied_at) values (${version}, ${name}, ${Date.now()})`,
  );
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
