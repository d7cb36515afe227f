import type { Dirent } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';

/**
 * Removes a folder that an agent wrote into. The agent may have closed folders of it (chmod 000), and where the server
 * is not root that keeps it out too, though they are its own: then they are opened first. Links are not followed.
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

/** From the top down: what is inside can be seen only when what is around it is open. */
async function openFolders(top: string): Promise<void> {
  const folders = [top];
  // The list grows while it is walked.
  for (const folder of folders) {
    await chmod(folder, 0o700);
    const inside = await readdir(folder, { withFileTypes: true });
    folders.push(...inside.filter(isFolder).map(({ name }) => join(folder, name)));
  }
}

function isFolder(entry: Dirent): boolean {
  return entry.isDirectory();
}
