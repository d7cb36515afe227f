import { fileURLToPath } from 'node:url';
import { openSqlite } from './dialects/sqlite.ts';
import type { Report } from './effects.ts';
import { type MigratableDatabase, migrate } from './migrate.ts';
import type { Database } from './sql-database.ts';

interface DatabaseOptions {
  /** `postgres://…`, or the path of a SQLite file. */
  location: string;
  /** SQLite only: called once when an fsync has failed. It must end the process. */
  onFatal: (error: unknown) => void;
  report: Report;
  /** Called once for each problem that an operator should fix but that does not stop the server. */
  warn?: (message: string) => void;
  /** PostgreSQL only. */
  poolSize?: number;
  /** SQLite only: how long to wait while another process writes. */
  busyTimeoutMs?: number;
}

/** Opens the database and migrates it to the schema of this release. */
export async function openDatabase(options: DatabaseOptions): Promise<MigratableDatabase> {
  const database = await connectDatabase(options);
  try {
    await migrate(database, migrationsFolder(database.dialect));
    database.migrated?.();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Opens the database without migrating it. */
export async function connectDatabase(options: DatabaseOptions): Promise<MigratableDatabase> {
  const { location, onFatal, report, warn = () => {}, poolSize, busyTimeoutMs } = options;
  if (!/^postgres(ql)?:/.test(location)) {
    return openSqlite({
      path: location,
      onFatal,
      report,
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
    });
  }
  const { openPostgres } = await import('./dialects/postgres.ts');
  return openPostgres({
    url: location,
    report,
    warn,
    ...(poolSize === undefined ? {} : { poolSize }),
  });
}

export function migrationsFolder(dialect: Database['dialect']): string {
  return fileURLToPath(new URL(`migrations/${dialect}`, import.meta.url));
}
