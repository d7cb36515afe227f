import { type Hash, createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { bytesOf } from '../confined-fs/file-bytes.ts';
import { ConfinedError, type WriteOptions, writeConfined } from '../confined-fs/files.ts';
import type { SourceFile } from './source-files.ts';

export interface MirrorSteps {
  /** Copies a new or changed file. Returns the digest to remember; `undefined` when the source is gone. */
  readonly copy: (file: SourceFile, before: string | undefined) => Promise<string | undefined>;
  /** Removes the copy of a file that is not in the source any longer. */
  readonly remove: (path: string, before: string) => Promise<void>;
}

/**
 * Brings copies of source files up to date. `known` maps the path of each copied file to its digest and is updated
 * in place. Returns whether `known` changed.
 */
export async function mirrorFiles(
  files: readonly SourceFile[],
  known: Map<string, string>,
  { copy, remove }: MirrorSteps,
): Promise<boolean> {
  let changed = false;
  const current = new Set<string>();
  for (const file of files) {
    current.add(file.path);
    const before = known.get(file.path);
    if (before === file.sha256) continue;
    changed = true;
    const copied = await copy(file, before);
    if (copied !== undefined) known.set(file.path, copied);
  }
  for (const [path, before] of known) {
    if (current.has(path)) continue;
    changed = true;
    await remove(path, before);
    known.delete(path);
  }
  return changed;
}

/**
 * Copies a source file to `target`. Returns the digest of the bytes that were copied, since the source may change
 * while it is read; `undefined` when the source is gone, which the next reading of the agent's folder notices.
 */
export async function copySource(
  { source, executable }: SourceFile,
  target: { readonly root: string; readonly path: string },
  options: Pick<WriteOptions, 'reclaim'> = {},
): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    await writeConfined(target, hashedBytes(source, hash), { ...options, executable });
  } catch (error) {
    if (error instanceof ConfinedError && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return hash.digest('hex');
}

async function* hashedBytes(source: string, hash: Hash): AsyncGenerator<Uint8Array> {
  const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW);
  for await (const chunk of bytesOf(handle)) {
    hash.update(chunk);
    yield chunk;
  }
}
