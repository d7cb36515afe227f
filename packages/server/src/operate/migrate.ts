import { mkdirSync } from 'node:fs';
import { placeOf } from '../compose/database.ts';
import type { Config } from '../config/config.ts';
import { connectDatabase, migrationsFolder } from '../store/database.ts';
import {
  type MigratableDatabase,
  type SchemaState,
  migrate,
  schemaState,
} from '../store/migrate.ts';
import { createLog } from '../telemetry/log.ts';

/** Time to wait for a server that holds the write lock. */
const busyTimeoutMs = 10_000;

/** Reads the schema version of the deployment and changes nothing. */
export function examineSchema(config: Config): Promise<SchemaState> {
  return withDatabase(config, (database) => schemaState(database, folderOf(database)));
}

/** Applies the migrations of this release; servers may keep running. */
export function migrateSchema(
  config: Config,
  onApplied: (name: string) => void,
): Promise<SchemaState> {
  return withDatabase(config, async (database) => {
    await migrate(database, folderOf(database), onApplied);
    return schemaState(database, folderOf(database));
  });
}

/** Opens the database of the deployment without migrating it. */
async function withDatabase<T>(
  config: Config,
  work: (database: MigratableDatabase) => Promise<T>,
): Promise<T> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const log = createLog(config.log);
  const database = await connectDatabase({
    ...placeOf(config, log),
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
