import { hash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { BlobReader, Blobs } from '../ports/blobs.ts';
import { hasCode } from '../runtime/error-code.ts';
import { stageDraft } from './draft.ts';
import { checkKey, checkPrefix } from './keys.ts';

const chunkBytes = 128 * 1024;
const publishAttempts = 3;

export interface DiskBlobs {
  readonly dataDir: string;
  /** A folder that several servers share; without one, `blobs` of the data folder. */
  readonly shared?: string | undefined;
}

/**
 * Blobs as files under `<dataDir>/blobs/<tenant>/`, or under a folder that several servers share. Bytes are written and
 * synced in a staging folder, and renamed to their key afterwards. A file that a crash leaves in the staging folder was
 * never published: the next start deletes it. In a shared folder each server has a staging folder of its own, because
 * the drafts of other servers are uploads under way.
 */
export async function openDiskBlobs({ dataDir, shared }: DiskBlobs): Promise<Blobs> {
  const root = shared ?? join(dataDir, 'blobs');
  const staging = shared === undefined ? join(root, '.staging') : sharedStaging(root, dataDir);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  return {
    stage(source, { maxBytes }) {
      const path = join(staging, randomUUID());
      const toKey = (key: string) => publish({ root, draft: path }, key);
      return stageDraft(source, { path, maxBytes, durable: true, publish: toKey });
    },
    read: async (key, range) => read(pathOf(root, key), range),
    removeAll: (prefix) => removeAll(root, prefix),
  };
}

/** Named after the machine and its data folder, which one server at a time holds. */
function sharedStaging(root: string, dataDir: string): string {
  return join(root, '.staging', hash('sha256', `${hostname()}:${resolve(dataDir)}`, 'hex'));
}

interface Naming {
  readonly root: string;
  readonly draft: string;
}

async function publish({ root, draft }: Naming, key: string): Promise<void> {
  const path = pathOf(root, key);
  const folder = dirname(path);
  for (let left = publishAttempts; ; left -= 1) {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await rename(draft, path);
    } catch (error) {
      // `removeAll` deleted the folder while it was still empty.
      if (!hasCode(error, 'ENOENT') || left <= 1) throw error;
      continue;
    }
    // A rename is durable only once its folder is synced, and so is a folder that was just created. `removeAll` may
    // have deleted both since: the blob was published, and is removed.
    await syncFolder(folder).catch(unlessAbsent);
    if (made !== undefined) await syncFolder(root);
    return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function read(path: string, range?: Range): Promise<BlobReader | undefined> {
  const handle = await openIfPresent(path);
  if (handle === undefined) return undefined;
  const sizeBytes = await sizeOf(handle);
  const end = Math.min(range?.end ?? Infinity, sizeBytes - 1) + 1;
  const chunks = new Chunks(handle, range?.start ?? 0, end);
  return { sizeBytes, [Symbol.asyncIterator]: () => chunks };
}

async function sizeOf(handle: FileHandle): Promise<number> {
  try {
    return (await handle.stat()).size;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Not a generator: one that is abandoned before its first chunk would never close the file. */
class Chunks implements AsyncIterator<Uint8Array> {
  readonly #handle: FileHandle;
  readonly #end: number;
  #at: number;
  #closed = false;

  constructor(handle: FileHandle, start: number, end: number) {
    this.#handle = handle;
    this.#at = start;
    this.#end = end;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#closed) return { done: true, value: undefined };
    const wanted = Math.min(chunkBytes, this.#end - this.#at);
    if (wanted <= 0) return this.return();
    try {
      const buffer = Buffer.allocUnsafeSlow(wanted);
      const { bytesRead } = await this.#handle.read(buffer, 0, wanted, this.#at);
      // The response has already stated the length: ending early would look complete.
      if (bytesRead === 0) throw new Error('a blob is shorter than expected');
      this.#at += bytesRead;
      return { done: false, value: buffer.subarray(0, bytesRead) };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#closed) {
      this.#closed = true;
      await this.#handle.close();
    }
    return { done: true, value: undefined };
  }
}

async function removeAll(root: string, prefix: string): Promise<void> {
  const [tenant = '', start = ''] = checkPrefix(prefix).split('/');
  const folder = join(root, tenant);
  const entries = await opendir(folder).catch(unlessAbsent);
  if (entries === undefined) return;
  let removed = false;
  for await (const { name } of entries) {
    if (!name.startsWith(start)) continue;
    await unlink(join(folder, name)).catch(unlessAbsent);
    removed = true;
  }
  if (removed) await syncFolder(folder).catch(unlessAbsent);
  await rmdir(folder).catch(unlessInUse);
}

function pathOf(root: string, key: string): string {
  return join(root, checkKey(key));
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch(unlessAbsent);
}

function unlessAbsent(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function unlessInUse(error: unknown): void {
  if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
}
