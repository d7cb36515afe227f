import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../runtime/error-code.ts';
import { readEntries } from './folder-entries.ts';
import { confinedPath } from './path.ts';

/**
 * Reads and writes below a folder whose content is not trusted: an agent may plant links in its session folder, and
 * no function here follows one. Each directory of a path is opened without following links and held open while the
 * next one is looked up in it, so that swapping a directory for a link in between has no effect either.
 */

/** A confined operation failed. `code` is the file system's, or `ELOOP` for a link. */
export class ConfinedError extends Error {
  override readonly name = 'Confined';
  readonly code: string;

  constructor(code: string, options?: ErrorOptions) {
    super(`not possible inside the folder (${code})`, options);
    this.code = code;
  }
}

/**
 * Whether something of another kind is at the path or on the way to it: a link, a folder for a file, or the reverse.
 */
export function isPathBlocked(error: unknown): boolean {
  return error instanceof ConfinedError && blockingCodes.has(error.code);
}

const blockingCodes = new Set(['ELOOP', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'EPERM']);

export interface WriteOptions {
  /**
   * For paths that belong to the service: `folders` replaces links and files on the way by folders, `everything`
   * also replaces a folder at the path by the file.
   */
  readonly reclaim?: 'folders' | 'everything';
  readonly executable?: boolean;
}

/** Opens a regular file for reading; `undefined` when there is none. The caller closes it. */
export async function openConfined(root: string, path: string): Promise<FileHandle | undefined> {
  return withParent({ root, path, make: 'no' }, async (parent, name) => {
    // O_NONBLOCK: opening a pipe must not block a thread of the pool until the pipe has a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(join(parent, name), flags);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    throw new ConfinedError('EISDIR');
  });
}

/** Writes a whole file under a temporary name and renames it, so that no reader sees a part of it. */
export async function writeConfined(
  target: { readonly root: string; readonly path: string },
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: WriteOptions = {},
): Promise<void> {
  const make = options.reclaim === undefined ? 'missing' : 'reclaim';
  await withParent({ ...target, make }, async (parent, name, owner) => {
    const draft = join(parent, `.${randomUUID()}.tmp`);
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const mode = options.executable === true ? 0o755 : 0o644;
    const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    try {
      try {
        if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
        await handle.writeFile(content);
      } finally {
        await handle.close();
      }
      await renameOver(draft, join(parent, name), options.reclaim === 'everything');
    } catch (error) {
      await unlink(draft).catch(() => undefined);
      throw error;
    }
  });
}

async function renameOver(draft: string, path: string, reclaim: boolean): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (!reclaim || errorCode(error) !== 'EISDIR') throw error;
    await rm(path, { recursive: true });
    await rename(draft, path);
  }
}

/** Removes a file or a link, not the target of the link. Does nothing when there is neither. */
export async function removeConfined(root: string, path: string): Promise<void> {
  await ignoreBlocked(
    withParent({ root, path, make: 'no' }, (parent, name) => unlink(join(parent, name))),
  );
}

/** Removes a folder if it is empty. */
export async function removeFolderConfined(root: string, path: string): Promise<void> {
  await ignoreBlocked(
    withParent({ root, path, make: 'no' }, (parent, name) => rmdir(join(parent, name))),
  );
}

async function ignoreBlocked(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isPathBlocked(error)) throw error;
  }
}

export interface ConfinedEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

/**
 * Lists the first `namesMax` entries of a folder, sorted by name; `undefined` when there is no such folder. The empty
 * path is the root itself.
 */
export async function listConfined(
  { root, path }: { readonly root: string; readonly path: string },
  namesMax: number,
): Promise<readonly ConfinedEntry[] | undefined> {
  if (path === '') return listFolder(root, namesMax);
  return withParent({ root, path, make: 'no' }, (parent, name) =>
    listFolder(join(parent, name), namesMax),
  );
}

async function listFolder(path: string, namesMax: number): Promise<readonly ConfinedEntry[]> {
  const held: FileHandle[] = [];
  try {
    const entries = await readEntries(await hold(path, held), namesMax);
    return entries
      .map((entry): ConfinedEntry => {
        const kind = entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';
        return { name: entry.name, kind };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    for (const handle of held) await handle.close();
  }
}

export async function existsConfined(root: string, path: string): Promise<boolean> {
  const stats = await withParent({ root, path, make: 'no' }, (parent, name) =>
    lstat(join(parent, name)),
  );
  return stats !== undefined;
}

interface ParentRequest {
  readonly root: string;
  readonly path: string;
  readonly make: 'no' | 'missing' | 'reclaim';
}

/** Calls `use` with the folder that holds `path`; returns `undefined` when that folder or the entry is missing. */
async function withParent<T>(
  { root, path, make }: ParentRequest,
  use: (parent: string, name: string, owner: Owner | undefined) => Promise<T>,
): Promise<T | undefined> {
  const parts = confinedPath(path)?.split('/');
  const name = parts?.pop();
  if (parts === undefined || name === undefined) throw new ConfinedError('EINVAL');
  const held: FileHandle[] = [];
  try {
    let folder = await hold(root, held);
    const owner = make === 'no' ? undefined : await ownerOf(held[0]);
    for (const part of parts) folder = await enter(join(folder, part), { make, owner }, held);
    return await use(folder, name, owner);
  } catch (error) {
    // An error without a code is not from the file system: the source of the content failed.
    const code = errorCode(error);
    if (error instanceof ConfinedError || code === undefined) throw error;
    if (code === 'ENOENT' && make === 'no') return undefined;
    throw new ConfinedError(code, { cause: error });
  } finally {
    for (const handle of held) await handle.close();
  }
}

/** Owner of new files and folders, where it is not the server's own user. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** As root, the server gives new files to the owner of the root folder: the user that runs the agent's programs. */
async function ownerOf(root: FileHandle | undefined): Promise<Owner | undefined> {
  if (root === undefined || process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await root.stat();
  return uid === 0 ? undefined : { uid, gid };
}

async function enter(
  path: string,
  { make, owner }: { make: ParentRequest['make']; owner: Owner | undefined },
  held: FileHandle[],
): Promise<string> {
  try {
    return await hold(path, held);
  } catch (error) {
    const code = errorCode(error);
    const isOther = code === 'ENOTDIR' || code === 'ELOOP';
    if (make === 'no' || !(code === 'ENOENT' || (isOther && make === 'reclaim'))) throw error;
    if (isOther) await unlink(path);
    await mkdir(path);
    const folder = await hold(path, held);
    if (owner !== undefined) await held.at(-1)?.chown(owner.uid, owner.gid);
    return folder;
  }
}

/** Opens a directory and returns a path that refers to this directory, even if renamed, while its handle is open. */
async function hold(path: string, held: FileHandle[]): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(path, flags);
  held.push(handle);
  // Other systems have no such path: links are still refused, but a swap between two lookups is not noticed.
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
}
