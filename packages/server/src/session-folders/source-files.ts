import type { Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf, digestOf } from '../confined-fs/file-bytes.ts';
import { isPathPart } from '../confined-fs/path.ts';
import { hasCode } from '../runtime/error-code.ts';

const filesMax = 10_000;

/** A file of an agent's folder that sessions get a copy of. */
export interface SourceFile {
  /** Below the folder it was found in. */
  readonly path: string;
  readonly source: string;
  readonly sha256: string;
  readonly executable: boolean;
}

/** Every regular file below `folder` that `wanted` lets through; links, pipes and devices are passed by. */
export async function sourceFiles(
  folder: string,
  wanted: (name: string) => boolean = () => true,
): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  const waiting = [''];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of await entriesOf(join(folder, next))) {
      const path = next === '' ? entry.name : `${next}/${entry.name}`;
      if (!isPathPart(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isFile() || !wanted(entry.name)) continue;
      if (files.length >= filesMax)
        throw new Error(`an agent has more than ${filesMax} files to copy`);
      const digested = await digest(join(folder, path));
      if (digested !== undefined) files.push({ path, source: join(folder, path), ...digested });
    }
  }
  return files;
}

/** The bytes of a source as they are now. `hash` learns what was really copied: the file may be edited meanwhile. */
export async function* copyOf(source: string, hash: Hash): AsyncGenerator<Uint8Array> {
  const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW);
  for await (const chunk of bytesOf(handle)) {
    hash.update(chunk);
    yield chunk;
  }
}

async function digest(
  path: string,
): Promise<Pick<SourceFile, 'sha256' | 'executable'> | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { mode } = await handle.stat();
    return { sha256: await digestOf(handle), executable: (mode & 0o100) !== 0 };
  } catch (error) {
    // Somebody edits the folder just now. The registry notices as well, and a later leg gets the rest.
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
