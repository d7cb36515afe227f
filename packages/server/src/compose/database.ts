import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Store } from '../ports/store.ts';
import { systemClock } from '../runtime/clock.ts';
import { openDatabaseClock } from '../runtime/database-clock.ts';
import { openDatabase } from '../store/database.ts';
import { createStore } from '../store/store.ts';

interface StoreOptions {
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly poolSize?: number;
  readonly busyTimeoutMs?: number;
}

type DatabasePlace = Pick<Config, 'dataDir' | 'databaseUrl'>;

/** Which database it is, and what is done about its troubles. */
export function placeOf({ dataDir, databaseUrl }: DatabasePlace, log: Log) {
  return {
    location: databaseUrl ?? join(dataDir, 'convoke.db'),
    report: (message: string, error: unknown) => log.error(message, error),
    warn: (message: string) => log.warn(message),
    onFatal: (error: unknown) => {
      // After a failed fsync nobody knows what is on disk; only a fresh start reads the truth.
      log.error('the disk refused to keep data; stopping at once', error);
      process.exit(1);
    },
  };
}

export async function openStore(
  place: DatabasePlace,
  { log, metrics, ...options }: StoreOptions,
): Promise<Store> {
  const database = await openDatabase({ ...placeOf(place, log), ...options });
  metrics?.databaseConnections.readFrom(() => {
    const connections = database.connections?.();
    if (connections === undefined) return undefined;
    const { inUse, idle, waiting } = connections;
    return { in_use: inUse, idle, waiting };
  });
  return createStore(database);
}

/** Servers that share a database share its clock; one machine has only its own. */
export async function openClock(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  { store, log }: { readonly store: Store; readonly log: Log },
): Promise<Clock> {
  if (databaseUrl === undefined) return systemClock;
  return openDatabaseClock({ store, log, timers: systemClock, elapsed: () => performance.now() });
}
