import type { Dirent } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';

/**
 * Removes a folder that an agent wrote into. The agent may have closed folders in it (chmod 000). A server that is not
 * root cannot enter these, even as their owner, so it makes them accessible first. Links are not followed.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'ENOTEMPTY')) throw error;
    await openFolders(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** Works from the top down: a folder can be listed only once it is accessible. */
async function openFolders(top: string): Promise<void> {
  const folders = [top];
  // The list grows during iteration.
  for (const folder of folders) {
    await chmod(folder, 0o700);
    const inside = await readdir(folder, { withFileTypes: true });
    folders.push(...inside.filter(isFolder).map(({ name }) => join(folder, name)));
  }
}

function isFolder(entry: Dirent): boolean {
  return entry.isDirectory();
}
