import { join } from 'node:path';
import { createHeadSeal } from '../auth/head-seal.ts';
import { deriveKey } from '../auth/master-key.ts';
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
  /** From it comes the key that seals the heads of the audit log. */
  readonly masterKey: Uint8Array;
  readonly metrics?: Metrics;
  readonly poolSize?: number;
  readonly busyTimeoutMs?: number;
}

type DatabasePlace = Pick<Config, 'dataDir' | 'databaseUrl'>;

/** Location of the database, and the handlers of its faults. */
export function placeOf({ dataDir, databaseUrl }: DatabasePlace, log: Log) {
  return {
    location: databaseUrl ?? join(dataDir, 'convoke.db'),
    report: (message: string, error: unknown) => log.error(message, error),
    warn: (message: string) => log.warn(message),
    onFatal: (error: unknown) => {
      // After a failed fsync the state on disk is unknown; only a restart reads it reliably.
      log.error('fsync failed; the process exits', error);
      process.exit(1);
    },
  };
}

export async function openStore(
  place: DatabasePlace,
  { log, masterKey, metrics, ...options }: StoreOptions,
): Promise<Store> {
  const database = await openDatabase({ ...placeOf(place, log), ...options });
  metrics?.databaseConnections.readFrom(() => {
    const connections = database.connections?.();
    if (connections === undefined) return undefined;
    const { inUse, idle, waiting } = connections;
    return { in_use: inUse, idle, waiting };
  });
  return createStore(database, createHeadSeal(deriveKey(masterKey, 'audit-heads')));
}

/** Servers that share a database use its clock; a single server uses the clock of its machine. */
export async function openClock(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  { store, log }: { readonly store: Store; readonly log: Log },
): Promise<Clock> {
  if (databaseUrl === undefined) return systemClock;
  return openDatabaseClock({ store, log, timers: systemClock, elapsed: () => performance.now() });
}
