import { digestOf } from '../confined-fs/file-bytes.ts';
import {
  existsConfined,
  isPathBlocked,
  openConfined,
  removeConfined,
} from '../confined-fs/files.ts';
import { copySource, mirrorFiles } from './mirror-files.ts';
import type { SourceFile } from './source-files.ts';

/**
 * Brings the seed files of a session up to date with its agent's folder. A copy follows its source until the session
 * edits or deletes it; from then on it belongs to the session. `known` holds the digests of the copied files.
 * Returns whether `known` changed.
 */
export async function updateSeeds(
  root: string,
  seeds: readonly SourceFile[],
  known: Map<string, string>,
): Promise<boolean> {
  return mirrorFiles(seeds, known, {
    copy: (seed, before) => copySeed(root, seed, before),
    remove: async (path, before) => {
      if ((await copyDigest(root, path)) === before) await removeConfined(root, path);
    },
  });
}

/** The source's digest is remembered also for a file that belongs to the session: then it is not tried again. */
async function copySeed(
  root: string,
  seed: SourceFile,
  before: string | undefined,
): Promise<string | undefined> {
  const { path } = seed;
  const isSessionsOwn =
    before === undefined ? await isTaken(root, path) : (await copyDigest(root, path)) !== before;
  if (isSessionsOwn) return seed.sha256;
  try {
    return await copySource(seed, { root, path });
  } catch (error) {
    if (isPathBlocked(error)) return seed.sha256;
    throw error;
  }
}

async function isTaken(root: string, path: string): Promise<boolean> {
  try {
    return await existsConfined(root, path);
  } catch (error) {
    if (isPathBlocked(error)) return true;
    throw error;
  }
}

/** `undefined` when there is no regular file at `path`. */
async function copyDigest(root: string, path: string): Promise<string | undefined> {
  try {
    const handle = await openConfined(root, path);
    if (handle === undefined) return undefined;
    return await digestOf(handle);
  } catch (error) {
    if (isPathBlocked(error)) return undefined;
    throw error;
  }
}
