import { type Dirent, lstatSync, opendirSync, readdirSync } from 'node:fs';
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

/**
 * A folder of this size has at most some thousand entries: an entry takes from twelve bytes (ext4) down to one (ZFS).
 */
const smallBytes = 4096;

/**
 * Whether a folder has no entry, or does not exist. A small one is read whole, because opening a `Dir` of Node takes
 * five times as long, and this runs after every leg. Of any other one, at most one entry is read; that includes file
 * systems that tell no size.
 */
export function isEmptyFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  const isSmall = stats.isDirectory() && stats.size > 0 && stats.size <= smallBytes;
  if (isSmall) return readdirSync(path).length === 0;
  const folder = opendirSync(path, { bufferSize: 1 });
  try {
    return folder.readSync() === null;
  } finally {
    folder.closeSync();
  }
}
