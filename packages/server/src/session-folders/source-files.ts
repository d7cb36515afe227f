import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from '../confined-fs/file-bytes.ts';
import { isPathPart } from '../confined-fs/path.ts';
import { hasCode } from '../runtime/error-code.ts';

const filesMax = 10_000;

/** A file of an agent's folder that is copied into session folders. */
export interface SourceFile {
  /** Relative to the folder that was searched. */
  readonly path: string;
  readonly source: string;
  readonly sha256: string;
  readonly executable: boolean;
}

/** Returns every regular file below `folder` whose name `wanted` accepts; skips links, pipes and devices. */
export async function sourceFiles(
  folder: string,
  wanted: (name: string) => boolean = () => true,
): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  const folders = [''];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await entriesOf(join(folder, next))) {
      const path = next === '' ? entry.name : `${next}/${entry.name}`;
      if (!isPathPart(entry.name)) continue;
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile() || !wanted(entry.name)) continue;
      if (files.length >= filesMax)
        throw new Error(`an agent has more than ${filesMax} files to copy`);
      const digested = await digest(join(folder, path));
      if (digested !== undefined) files.push({ path, source: join(folder, path), ...digested });
    }
  }
  return files;
}

async function digest(
  path: string,
): Promise<Pick<SourceFile, 'sha256' | 'executable'> | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { mode } = await handle.stat();
    return { sha256: await digestOf(handle), executable: (mode & 0o100) !== 0 };
  } catch (error) {
    // The folder is being edited. The registry will read it again, and a later leg gets the remaining files.
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  });
}
