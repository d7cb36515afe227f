import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../failure.ts';

/** Longer than a holder needs at most: two requests that time out. */
const timeoutMs = 60_000;
const pollMs = 25;

/**
 * Runs work under a lock that excludes other processes of this user. It is an exclusive SQLite transaction on a
 * separate file: the system releases it when the process ends, so no lock can become stale.
 */
export async function holding<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    const deadline = performance.now() + timeoutMs;
    while (!taken(lock)) {
      if (performance.now() > deadline) {
        throw new Failure(`another convoke command has held ${path} for a minute; try again`);
      }
      await pause(pollMs);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (error instanceof Error && /locked|busy/.test(error.message)) return false;
    throw error;
  }
}
