import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { bytesOf } from '../confined-fs/file-bytes.ts';
import { FolderTooLarge, UnsupportedPath, walkConfined } from '../confined-fs/walk.ts';

const folders = ['skills', 'workspace'];
const bytesMax = 64 * 1024 * 1024;
const namesMax = 10_000;

/**
 * Identifies what an agent's sessions start with: the bytes of `skills/` and `workspace/`, and beyond 64 MiB the names
 * and sizes of their files (D-574). Follows no link.
 */
export async function contentDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = { left: namesMax };
  let bytes = 0;
  for (const name of folders) {
    try {
      for await (const entry of walkConfined(join(folder, name), names)) {
        const size = Number(entry.stats.size);
        hash.update(`${name}/${entry.path}\0${entry.kind}\0`);
        if (entry.kind === 'link') hash.update(`${entry.target}\0`);
        if (entry.kind !== 'file') continue;
        hash.update(`${size}\0`);
        bytes += size;
        if (bytes > bytesMax) continue;
        for await (const chunk of bytesOf(await entry.open())) hash.update(chunk);
      }
    } catch (error) {
      // The session folder refuses such files when it is prepared; here they only have no part.
      if (!(error instanceof FolderTooLarge) && !(error instanceof UnsupportedPath)) throw error;
      hash.update(`${name}\0${error.name}\0`);
    }
  }
  return hash.digest('hex');
}
