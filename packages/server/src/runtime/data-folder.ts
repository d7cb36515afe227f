import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Makes the data folder and holds it for this process alone. The lock is SQLite's lock on a file of its
 * own: the system drops it when the process ends, however it ends, so nothing stale can be left behind.
 */
export function holdDataFolder(path: string): { release(): void } {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(path, 'server.lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    lock.close();
    throw new Error(`another Convoke server is using ${path}; stop it or set CONVOKE_DATA_DIR`, {
      cause: error,
    });
  }
  return { release: () => lock.close() };
}

const addressFile = 'address';

/** Leaves word where the server of this folder is reached, for commands that have to name it (tokens do). */
export function publishAddress(path: string, baseUrl: string): void {
  const draft = join(path, `${addressFile}.${process.pid}`);
  writeFileSync(draft, `${baseUrl}\n`);
  renameSync(draft, join(path, addressFile));
}

/** Where the last server of this folder was reached; undefined when there was none. */
export function publishedAddress(path: string): string | undefined {
  try {
    return readFileSync(join(path, addressFile), 'utf8').trim();
  } catch {
    return undefined;
  }
}
