import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../../../test/remove-folder.ts';
import { journalFolder, openJournal } from './journal-folder.ts';

/** Run by vitest before any test file: one journal per run, whichever workers write it. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Every project of the configuration calls this; the first call creates the folder.
  if (journalFolder() !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'convoke-journal-'));
  openJournal(folder);
  return () => removeFolder(folder);
}
