import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { isDataFolderHeld } from '../runtime/data-folder.ts';
import type { TransferConnection, TransferMode } from '../store/transfer/connection.ts';
import { exportLines } from '../store/transfer/export.ts';
import { type ImportedRows, importLines } from '../store/transfer/import.ts';
import { linesOf } from '../store/transfer/lines.ts';
import { SqliteTransfer } from '../store/transfer/sqlite.ts';
import { examineSchema, migrateSchema } from './migrate.ts';

/** Exports all rows as text, as one consistent snapshot, while servers may keep writing. */
export async function* exportDeployment(config: Config): AsyncGenerator<string> {
  const { version, known } = await examineSchema(config);
  if (version !== known) {
    throw new Error(
      `the database has schema ${version} where this release has ${known}: ${version < known ? 'run `convoke migrate` first' : 'use the newer release'}`,
    );
  }
  const source = await openTransfer(config, 'read');
  try {
    yield* exportLines(source, version);
  } finally {
    await source.close();
  }
}

/**
 * Says which servers use the database of this deployment now; undefined when there are none. What they write after an
 * export has begun is not part of it.
 */
export async function describeWriters(config: Config): Promise<string | undefined> {
  const { dataDir, databaseUrl } = config;
  if (databaseUrl === undefined) {
    return isDataFolderHeld(dataDir) ? `a server is using ${dataDir}` : undefined;
  }
  const { countServerConnections } = await import('../store/transfer/postgres.ts');
  const count = await countServerConnections(databaseUrl);
  return count === 0 ? undefined : `servers have ${count} connections to the database`;
}

/** Imports an export into an empty database, completely or not at all. */
export async function importDeployment(
  config: Config,
  text: AsyncIterable<Uint8Array | string>,
): Promise<ImportedRows> {
  const { version } = await migrateSchema(config, () => {});
  const target = await openTransfer(config, 'write');
  try {
    return await importLines(target, version, linesOf(text));
  } finally {
    await target.close();
  }
}

/** Opens a connection with a transaction already begun. */
export async function openTransfer(
  { dataDir, databaseUrl }: Config,
  mode: TransferMode,
): Promise<TransferConnection> {
  if (databaseUrl === undefined) return new SqliteTransfer(join(dataDir, 'convoke.db'), mode);
  const { PostgresTransfer } = await import('../store/transfer/postgres.ts');
  return PostgresTransfer.open(databaseUrl, mode);
}
