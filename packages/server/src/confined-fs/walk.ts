import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../runtime/error-code.ts';

/** Folders within folders; each level holds one open. */
const depthMax = 100;
/** So that a path still fits the system's bound below any other folder. */
const pathBytesMax = 2048;

export type WalkedEntry = {
  /** Below the root, with forward slashes. */
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
 * Everything below a folder whose content somebody else controls, folders before what is in them, by name. No link
 * is followed: see `confined.ts`. What is neither file, folder nor link is passed over, and so is what vanishes
 * meanwhile or has a name that is not UTF-8.
 */
export async function* walkConfined(root: string): AsyncGenerator<WalkedEntry> {
  yield* walk(root, '', 0);
}

async function* walk(folder: string, path: string, depth: number): AsyncGenerator<WalkedEntry> {
  if (depth > depthMax) throw new TooDeep(`${path} lies too deep`);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(unlessGone);
  if (handle === undefined) return;
  try {
    const held = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const names = (await readdir(held)).sort();
    for (const name of names) {
      const entry = await look(join(held, name), path === '' ? name : `${path}/${name}`);
      if (entry === undefined) continue;
      if (Buffer.byteLength(entry.path) > pathBytesMax) throw new TooDeep(`${path} lies too deep`);
      yield entry;
      if (entry.kind === 'folder') yield* walk(join(held, name), entry.path, depth + 1);
    }
  } finally {
    await handle.close();
  }
}

async function look(at: string, path: string): Promise<WalkedEntry | undefined> {
  const stats = await lstat(at, { bigint: true }).catch(unlessGone);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return { path, stats, kind: 'folder' };
  if (stats.isFile()) return { path, stats, kind: 'file', open: () => openFile(at) };
  if (!stats.isSymbolicLink()) return undefined;
  const target = await readlink(at).catch(unlessGone);
  return target === undefined ? undefined : { path, stats, kind: 'link', target };
}

async function openFile(at: string): Promise<FileHandle> {
  // O_NONBLOCK: it may have become a pipe by now.
  return open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function unlessGone(error: unknown): undefined {
  const code = errorCode(error);
  // ELOOP, ENOTDIR, EINVAL: it has become something else since it was listed.
  if (['ENOENT', 'ELOOP', 'ENOTDIR', 'EINVAL'].includes(String(code))) return undefined;
  throw error;
}
