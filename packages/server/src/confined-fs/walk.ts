import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';

/** Nested folders; each level keeps one file descriptor open. */
const depthMax = 100;
/** Keeps a path within the system's limit when it is restored below another folder. */
const pathBytesMax = 2048;

export type WalkedEntry = {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly stats: BigIntStats;
} & (
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly open: () => Promise<FileHandle> }
  | { readonly kind: 'link'; readonly target: string }
);

export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/**
 * Yields every entry below a folder whose content is not trusted, sorted by name, folders before their content. Follows
 * no link: see `files.ts`. Skips entries that are not a file, folder or link, that vanish during the walk, or whose
 * name is not UTF-8.
 */
export async function* walkConfined(root: string): AsyncGenerator<WalkedEntry> {
  yield* walk(root, '', 0);
}

async function* walk(folder: string, path: string, depth: number): AsyncGenerator<WalkedEntry> {
  if (depth > depthMax) throw new TooDeep(`${path} is nested too deeply`);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(unlessGone);
  if (handle === undefined) return;
  try {
    const held = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const names = (await readdir(held)).sort();
    for (const name of names) {
      const entry = await entryAt(join(held, name), path === '' ? name : `${path}/${name}`);
      if (entry === undefined) continue;
      if (Buffer.byteLength(entry.path) > pathBytesMax)
        throw new TooDeep(`${path} is nested too deeply`);
      yield entry;
      if (entry.kind === 'folder') yield* walk(join(held, name), entry.path, depth + 1);
    }
  } finally {
    await handle.close();
  }
}

async function entryAt(at: string, path: string): Promise<WalkedEntry | undefined> {
  const stats = await lstat(at, { bigint: true }).catch(unlessGone);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return { path, stats, kind: 'folder' };
  if (stats.isFile()) return { path, stats, kind: 'file', open: () => openFile(at) };
  if (!stats.isSymbolicLink()) return undefined;
  const target = await readlink(at).catch(unlessGone);
  return target === undefined ? undefined : { path, stats, kind: 'link', target };
}

async function openFile(at: string): Promise<FileHandle> {
  // O_NONBLOCK: the file may have been replaced by a pipe.
  return open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function unlessGone(error: unknown): undefined {
  // ELOOP, ENOTDIR, EINVAL: the entry was replaced by another kind since it was listed.
  if (!hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR', 'EINVAL')) throw error;
}
