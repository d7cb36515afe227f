import { type Dirent, opendirSync } from 'node:fs';
import { opendir } from 'node:fs/promises';

/** Entries that the system reads at a time: few enough that turning them into objects does not block the event loop. */
const batchEntries = 256;

/**
 * Reads at most `namesMax` entries of a folder, in the order of the file system. An agent may have made millions of
 * files: reading all of them, as `readdir` does, would take memory and block the event loop.
 */
export async function readEntries(folder: string, namesMax: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  if (namesMax <= 0) return entries;
  // Leaving the loop closes the folder.
  for await (const entry of await opendir(folder, { bufferSize: batchEntries })) {
    entries.push(entry);
    if (entries.length >= namesMax) break;
  }
  return entries;
}

/** Whether a folder has no entry. Reads at most one. */
export function isEmptyFolder(path: string): boolean {
  const folder = opendirSync(path, { bufferSize: 1 });
  try {
    return folder.readSync() === null;
  } finally {
    folder.closeSync();
  }
}
