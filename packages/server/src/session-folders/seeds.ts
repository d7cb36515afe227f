import { createHash } from 'node:crypto';
import { digestOf } from '../confined-fs/file-bytes.ts';
import {
  Confined,
  existsConfined,
  isInTheWay,
  openConfined,
  removeConfined,
  writeConfined,
} from '../confined-fs/files.ts';
import { type SourceFile, copyOf } from './source-files.ts';

/**
 * Brings the seed files of a session up to what its agent has now. A copy follows its source as long as
 * the session left it alone; from the first edit on (or once deleted) it is the session's own.
 * Answers whether `known`, the digests of what was copied, changed.
 */
export async function updateSeeds(
  root: string,
  seeds: readonly SourceFile[],
  known: Map<string, string>,
): Promise<boolean> {
  let changed = false;
  const current = new Set<string>();
  for (const seed of seeds) {
    current.add(seed.path);
    const before = known.get(seed.path);
    if (before === seed.sha256) continue;
    changed = true;
    const placed = await place(root, seed, before);
    if (placed !== undefined) known.set(seed.path, placed);
  }
  for (const [path, before] of known) {
    if (current.has(path)) continue;
    changed = true;
    if ((await copyDigest(root, path)) === before) await removeConfined(root, path);
    known.delete(path);
  }
  return changed;
}

/** The digest to remember; `undefined` when the source is gone, which a later reading of the agent will tell. */
async function place(
  root: string,
  seed: SourceFile,
  before: string | undefined,
): Promise<string | undefined> {
  const isSessionsOwn =
    before === undefined
      ? await isTaken(root, seed.path)
      : (await copyDigest(root, seed.path)) !== before;
  if (isSessionsOwn) return seed.sha256;
  const hash = createHash('sha256');
  try {
    const { path, executable } = seed;
    await writeConfined({ root, path }, copyOf(seed.source, hash), { executable });
  } catch (error) {
    if (isInTheWay(error)) return seed.sha256;
    if (error instanceof Confined && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return hash.digest('hex');
}

async function isTaken(root: string, path: string): Promise<boolean> {
  try {
    return await existsConfined(root, path);
  } catch (error) {
    if (isInTheWay(error)) return true;
    throw error;
  }
}

/** `undefined` when there is no such regular file. */
async function copyDigest(root: string, path: string): Promise<string | undefined> {
  try {
    const handle = await openConfined(root, path);
    if (handle === undefined) return undefined;
    return await digestOf(handle);
  } catch (error) {
    if (isInTheWay(error)) return undefined;
    throw error;
  }
}
