import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../config/config.ts';
import { migrationsFolder } from '../../store/database.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

const connectTimeoutMs = 5000;
const versionQuery = 'select max(version) as version from schema_migrations';

/** Reads the schema version without opening the store, which would migrate it. */
export async function examineDatabase({ databaseUrl, dataDir }: Config): Promise<Finding> {
  const path = join(dataDir, 'convoke.db');
  if (databaseUrl === undefined && !existsSync(path)) {
    return warned('database', `${path} does not exist`, 'the first start of the server creates it');
  }
  const name = databaseUrl === undefined ? path : 'PostgreSQL';
  const known = migrationCount(databaseUrl === undefined ? 'sqlite' : 'postgres');
  try {
    if (databaseUrl === undefined) return compare(name, sqliteVersion(path), known);
    const { version, unboundRole } = await askPostgres(databaseUrl);
    const finding = compare(name, version, known);
    if (unboundRole === undefined || finding.state !== 'ok') return finding;
    return warned(
      'database',
      `${finding.text}; row-level security does not apply to the role ${unboundRole}`,
      'connect as a role that owns the database and is not a superuser',
    );
  } catch (error) {
    const remedy =
      databaseUrl === undefined
        ? 'restore it from a backup'
        : 'check that PostgreSQL runs and that CONVOKE_DATABASE_URL is correct';
    return failed('database', `${name}: ${messageOf(error)}`, remedy);
  }
}

function compare(name: string, version: number, known: number): Finding {
  if (version === known) return fine('database', `${name}, schema ${version}`);
  const text = `${name}, schema ${version}, but this release needs ${known}`;
  return version < known
    ? warned('database', text, 'take a backup; the next start of the server migrates it')
    : failed('database', text, 'install the newer release that migrated this database');
}

function migrationCount(dialect: 'sqlite' | 'postgres'): number {
  return readdirSync(migrationsFolder(dialect)).filter((file) => file.endsWith('.sql')).length;
}

function sqliteVersion(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare(versionQuery).get()?.['version'] ?? 0);
  } finally {
    database.close();
  }
}

async function askPostgres(url: string): Promise<{ version: number; unboundRole?: string }> {
  const { Client } = await import('pg');
  const { unboundRoleQuery } = await import('../../store/dialects/postgres.ts');
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number | null }>(versionQuery);
    const unbound = await client.query<{ role: string }>(unboundRoleQuery);
    const [role] = unbound.rows.map((row) => row.role);
    return { version: rows[0]?.version ?? 0, ...(role === undefined ? {} : { unboundRole: role }) };
  } finally {
    await client.end();
  }
}
