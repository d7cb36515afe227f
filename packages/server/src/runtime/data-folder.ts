import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolderPrivate } from './private-files.ts';

const lockFile = 'server.lock';
const lockSql = 'pragma locking_mode = exclusive; begin exclusive';

/**
 * Creates the data folder and locks it for this process. The lock is SQLite's lock on a file of its own: the system
 * releases it when the process ends in any way, so it cannot become stale.
 */
export function holdDataFolder(path: string): { release(): void } {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  makeFolderPrivate(path);
  const lock = new DatabaseSync(join(path, lockFile));
  try {
    lock.exec(lockSql);
  } catch (error) {
    lock.close();
    throw new Error(`another Convoke server is using ${path}; stop it or set CONVOKE_DATA_DIR`, {
      cause: error,
    });
  }
  return { release: () => lock.close() };
}

/** Whether a server uses the folder now. Creates nothing. */
export function isDataFolderHeld(path: string): boolean {
  if (!existsSync(join(path, lockFile))) return false;
  const lock = new DatabaseSync(join(path, lockFile));
  try {
    lock.exec(lockSql);
    return false;
  } catch {
    return true;
  } finally {
    lock.close();
  }
}

const addressFile = 'address';

/** Writes the address of this server into the folder, for commands that need it (tokens name their issuer). */
export function publishAddress(path: string, baseUrl: string): void {
  const draft = join(path, `${addressFile}.${process.pid}`);
  writeFileSync(draft, `${baseUrl}\n`);
  renameSync(draft, join(path, addressFile));
}

/** The address of the last server of this folder; undefined when there was none. */
export function publishedAddress(path: string): string | undefined {
  try {
    return readFileSync(join(path, addressFile), 'utf8').trim();
  } catch {
    return undefined;
  }
}
