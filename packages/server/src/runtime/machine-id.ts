import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './error-code.ts';

const file = 'machine-id';

/**
 * Name of the machine that a data folder is on, made with the folder. The session folders beside it are newer than
 * their archives after a crash, so the database has to know where they are (D-91).
 */
export function machineId(dataDir: string): string {
  const path = join(dataDir, file);
  try {
    writeFileSync(path, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
