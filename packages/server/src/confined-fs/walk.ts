import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';
import { readEntries } from './folder-entries.ts';
import { sortInTurns } from './sort-in-turns.ts';

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

/** How many more names may be read. Walks that share it have one bound together. */
export interface NameBudget {
  left: number;
}

/** The folder has more names than are walked. */
export class FolderTooLarge extends Error {
  override readonly name = 'FolderTooLarge';
}

/** A path is too long, too deep, or not UTF-8. To leave it out would lose it without a word. */
export class UnsupportedPath extends Error {
  override readonly name = 'UnsupportedPath';
}

/**
 * Yields every entry below a folder whose content is not trusted, sorted by name, folders before their content. Follows
 * no link: see `files.ts`. Skips entries that are not a file, folder or link, or that vanish during the walk. Throws
 * `FolderTooLarge` when the budget of names is used up, and `UnsupportedPath`.
 */
export async function* walkConfined(root: string, budget: NameBudget): AsyncGenerator<WalkedEntry> {
  yield* walk(root, { path: '', depth: 0 }, budget);
}

async function* walk(
  folder: string,
  { path, depth }: { readonly path: string; readonly depth: number },
  budget: NameBudget,
): AsyncGenerator<WalkedEntry> {
  if (depth > depthMax) throw new UnsupportedPath('a path is nested too deeply');
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(unlessGone);
  if (handle === undefined) return;
  try {
    const held = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const names = (await readEntries(held, budget.left + 1)).map((entry) => entry.name);
    budget.left -= names.length;
    if (budget.left < 0) throw new FolderTooLarge('it has too many entries');
    for (const name of await sortInTurns(names)) {
      const entry = await entryAt(join(held, name), path === '' ? name : `${path}/${name}`);
      // Node reads bytes that are not UTF-8 as U+FFFD, and no entry has the name that results.
      if (entry === undefined && name.includes('\ufffd')) {
        throw new UnsupportedPath('a name is not UTF-8');
      }
      if (entry === undefined) continue;
      if (Buffer.byteLength(entry.path) > pathBytesMax) {
        throw new UnsupportedPath('a path is too long');
      }
      yield entry;
      if (entry.kind === 'folder')
        yield* walk(join(held, name), { path: entry.path, depth: depth + 1 }, budget);
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
