import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { removeFolderSync } from '../../../../../test/remove-folder.ts';

/** Returns SQLite's integrity check of the files a killed process left, run on a copy so that nothing is repaired. */
export function integrityOf(dataDir: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-copy-'));
  try {
    for (const name of ['convoke.db', 'convoke.db-wal']) {
      if (existsSync(join(dataDir, name))) cpSync(join(dataDir, name), join(folder, name));
    }
    const database = new DatabaseSync(join(folder, 'convoke.db'));
    const row = database.prepare('pragma integrity_check').get();
    database.close();
    return row?.['integrity_check'];
  } finally {
    removeFolderSync(folder);
  }
}
