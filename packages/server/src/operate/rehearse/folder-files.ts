import { createHash } from 'node:crypto';
import { FolderTooLarge, UnsupportedPath, walkConfined } from '../../confined-fs/walk.ts';

const namesMax = 10_000;
const bytesMax = 256 * 1024 * 1024;

/** Digests of all files below a folder, by path; undefined if they are too many or too large to compare. */
export async function filesIn(folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  const files = new Map<string, string>();
  let bytes = 0;
  try {
    for await (const entry of walkConfined(folder, { left: namesMax })) {
      if (entry.kind !== 'file') continue;
      bytes += Number(entry.stats.size);
      if (bytes > bytesMax) return undefined;
      const handle = await entry.open();
      try {
        const hash = createHash('sha256').update(await handle.readFile());
        files.set(entry.path, hash.digest('base64url'));
      } finally {
        await handle.close();
      }
    }
  } catch (error) {
    if (error instanceof FolderTooLarge || error instanceof UnsupportedPath) return undefined;
    throw error;
  }
  return files;
}
