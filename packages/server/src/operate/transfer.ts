import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { TransferConnection, TransferMode } from '../store/transfer/connection.ts';
import { exportLines } from '../store/transfer/export.ts';
import { type Imported, importLines } from '../store/transfer/import.ts';
import { linesOf } from '../store/transfer/lines.ts';
import { SqliteTransfer } from '../store/transfer/sqlite.ts';
import { examineSchema, migrateSchema } from './migrate.ts';

/** The deployment's rows as text, as they are now, also while servers go on writing. */
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

/** Fills an empty database with an export: all of it, or nothing. */
export async function importDeployment(
  config: Config,
  text: AsyncIterable<Uint8Array | string>,
): Promise<Imported> {
  const { version } = await migrateSchema(config, () => {});
  const target = await openTransfer(config, 'write');
  try {
    return await importLines(target, version, linesOf(text));
  } finally {
    await target.close();
  }
}

/** In a transaction that has begun. */
export async function openTransfer(
  { dataDir, databaseUrl }: Config,
  mode: TransferMode,
): Promise<TransferConnection> {
  if (databaseUrl === undefined) return new SqliteTransfer(join(dataDir, 'convoke.db'), mode);
  const { PostgresTransfer } = await import('../store/transfer/postgres.ts');
  return PostgresTransfer.open(databaseUrl, mode);
}
