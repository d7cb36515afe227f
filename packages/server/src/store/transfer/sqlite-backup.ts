import { DatabaseSync, backup } from 'node:sqlite';

/** All pages in one step, so that servers that keep writing cannot make it begin again for ever. */
const pagesPerStep = 2 ** 31 - 1;

/** Copies a database that servers may be using, as it is at one moment, and checks the copy. */
export async function backupSqlite(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(source, to, { rate: pagesPerStep });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to);
  try {
    const [first] = copy.prepare('pragma integrity_check(1)').all();
    const found = first?.['integrity_check'];
    if (found !== 'ok') throw new Error(`the copy of the database is damaged: ${String(found)}`);
  } finally {
    copy.close();
  }
}
