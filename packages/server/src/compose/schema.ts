import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { connectDatabase, migrationsFolder } from '../store/database.ts';
import {
  type MigratableDatabase,
  type SchemaState,
  migrate,
  schemaState,
} from '../store/migrate.ts';
import { createLog } from '../telemetry/log.ts';

/** A server that writes at the same moment is waited for. */
const busyTimeoutMs = 10_000;

/** Looks at the deployment's schema and changes nothing. */
export function examineSchema(config: Config): Promise<SchemaState> {
  return connected(config, (database) => schemaState(database, folderOf(database)));
}

/** Brings the deployment's schema up to this release, beside the servers that run on it. */
export function migrateSchema(
  config: Config,
  onApplied: (name: string) => void,
): Promise<SchemaState> {
  return connected(config, async (database) => {
    await migrate(database, folderOf(database), onApplied);
    return schemaState(database, folderOf(database));
  });
}

/** Opens the deployment's database with whatever schema it has. */
async function connected<T>(
  { dataDir, databaseUrl, logLevel }: Config,
  work: (database: MigratableDatabase) => Promise<T>,
): Promise<T> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const log = createLog({ level: logLevel });
  const database = await connectDatabase({
    location: databaseUrl ?? join(dataDir, 'convoke.db'),
    report: (message, error) => log.error(message, error),
    warn: (message) => log.warn(message),
    onFatal: (error) => {
      log.error('the disk refused to keep data; stopping at once', error);
      process.exit(1);
    },
    poolSize: 2,
    busyTimeoutMs,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function folderOf({ dialect }: MigratableDatabase): string {
  return migrationsFolder(dialect);
}
