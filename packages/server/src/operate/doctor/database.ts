import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../config/config.ts';
import { migrationsFolder } from '../../store/database.ts';
import { type AppliedMigration, OtherHistory, stateOf } from '../../store/migrate.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

export const connectTimeoutMs = 5000;
const migrationsQuery = 'select version, name from schema_migrations order by version';

/** Reads the applied migrations without opening the store, which would migrate it. */
export async function examineDatabase({ databaseUrl, dataDir }: Config): Promise<Finding> {
  const path = join(dataDir, 'convoke.db');
  if (databaseUrl === undefined && !existsSync(path)) {
    return warned('database', `${path} does not exist`, 'the first start of the server creates it');
  }
  const name = databaseUrl === undefined ? path : 'PostgreSQL';
  const folder = migrationsFolder(databaseUrl === undefined ? 'sqlite' : 'postgres');
  try {
    if (databaseUrl === undefined) return compare(name, appliedToSqlite(path), folder);
    const { applied, unboundRole } = await askPostgres(databaseUrl);
    const finding = compare(name, applied, folder);
    if (unboundRole === undefined || finding.state !== 'ok') return finding;
    return warned(
      'database',
      `${finding.text}; row-level security does not apply to the role ${unboundRole}`,
      'connect as a role that owns the database and is not a superuser',
    );
  } catch (error) {
    if (error instanceof OtherHistory) return failed('database', error.problem, error.remedy);
    const remedy =
      databaseUrl === undefined
        ? 'restore it from a backup'
        : 'check that PostgreSQL runs and that CONVOKE_DATABASE_URL is correct';
    return failed('database', `${name}: ${messageOf(error)}`, remedy);
  }
}

function compare(name: string, applied: readonly AppliedMigration[], folder: string): Finding {
  const { version, known } = stateOf(applied, folder);
  if (version === known) return fine('database', `${name}, schema ${version}`);
  const text = `${name}, schema ${version}, but this release needs ${known}`;
  return version < known
    ? warned('database', text, 'take a backup; the next start of the server migrates it')
    : failed('database', text, 'install the newer release that migrated this database');
}

function appliedToSqlite(path: string): AppliedMigration[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database.prepare(migrationsQuery).all();
    return rows.map(({ version, name }) => ({ version: Number(version), name: String(name) }));
  } finally {
    database.close();
  }
}

interface PostgresState {
  readonly applied: readonly AppliedMigration[];
  readonly unboundRole?: string;
}

async function askPostgres(url: string): Promise<PostgresState> {
  const { Client } = await import('pg');
  const { unboundRoleQuery } = await import('../../store/dialects/postgres.ts');
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  try {
    await client.connect();
    const { rows: applied } = await client.query<AppliedMigration>(migrationsQuery);
    const unbound = await client.query<{ role: string }>(unboundRoleQuery);
    const [role] = unbound.rows.map((row) => row.role);
    return { applied, ...(role === undefined ? {} : { unboundRole: role }) };
  } finally {
    await client.end();
  }
}
