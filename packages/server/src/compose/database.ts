import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { openDatabase } from '../store/database.ts';
import { createStore } from '../store/store.ts';

export async function openStore(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  { log, ...options }: { readonly log: Log; readonly poolSize?: number; busyTimeoutMs?: number },
): Promise<Store> {
  const database = await openDatabase({
    location: databaseUrl ?? join(dataDir, 'convoke.db'),
    report: (message, error) => log.error(message, error),
    onFatal: (error) => {
      // After a failed fsync nobody knows what is on disk; only a fresh start reads the truth.
      log.error('the disk refused to keep data; stopping at once', error);
      process.exit(1);
    },
    ...options,
  });
  return createStore(database);
}
