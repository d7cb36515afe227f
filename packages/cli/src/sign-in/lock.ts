import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../failure.ts';

/** Longer than whoever holds it may take: two calls to a server that does not answer. */
const patienceMs = 60_000;
const lookAgainMs = 25;

/**
 * Does something while no other process of this person does it. The lock is SQLite's on a file of its own: the system
 * drops it when a process ends, however it ends, so nothing stale can be left behind.
 */
export async function holding<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    const deadline = performance.now() + patienceMs;
    while (!taken(lock)) {
      if (performance.now() > deadline) {
        throw new Failure(`another convoke command has held ${path} for a minute; try again`);
      }
      await pause(lookAgainMs);
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
