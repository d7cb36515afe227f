import { randomUUID } from 'node:crypto';
import { chmod, lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { hasCode } from '../runtime/error-code.ts';

/** Names in memory, and removals under way, at a time. */
const batchEntries = 64;
/** A folder is read again until it is empty: this often without any progress. */
const idleReadsMax = 3;

/**
 * Removes a file or a folder that an agent wrote into, however many entries it has, however deep they are and whatever
 * bytes are in their names. Links are not followed. Only a batch of names is in memory at a time, and a folder inside a
 * folder is moved up to the top before it is emptied, so that no path becomes longer than the system allows.
 */
export async function removeTree(path: string): Promise<void> {
  const top = Buffer.from(path);
  const stats = await lstat(top).catch(unlessAbsent);
  if (stats === undefined) return;
  if (stats.isDirectory()) await removeFolder(top, top);
  else await unlink(top).catch(unlessAbsent);
}

async function removeFolder(folder: Buffer, top: Buffer): Promise<void> {
  await makeAccessible(folder);
  for (let idleReads = 0; idleReads < idleReadsMax; ) {
    let seen = 0;
    let removed = 0;
    for await (const batch of batchesOf(folder)) {
      seen += batch.length;
      removed += await removeBatch(batch, { folder, top });
    }
    if (seen === 0) {
      await rmdir(folder).catch(unlessAbsent);
      return;
    }
    idleReads = removed === 0 ? idleReads + 1 : 0;
  }
  throw new Error(`entries of ${top.toString()} cannot be removed`);
}

interface NamedEntry {
  readonly name: Buffer;
  readonly isFolder: boolean;
}

/** Names are read as Latin-1, which has a character for each byte: an agent may choose names that are not UTF-8. */
async function* batchesOf(folder: Buffer): AsyncGenerator<readonly NamedEntry[]> {
  const opened = await opendir(folder, { encoding: 'latin1', bufferSize: batchEntries }).catch(
    unlessAbsent,
  );
  if (opened === undefined) return;
  let batch: NamedEntry[] = [];
  for await (const entry of opened) {
    batch.push({ name: Buffer.from(entry.name, 'latin1'), isFolder: entry.isDirectory() });
    if (batch.length < batchEntries) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns the number of entries that are not in the folder any longer. */
async function removeBatch(
  batch: readonly NamedEntry[],
  { folder, top }: { readonly folder: Buffer; readonly top: Buffer },
): Promise<number> {
  const files = batch.filter(({ isFolder }) => !isFolder);
  const removals = await Promise.all(
    files.map(({ name }) => succeeds(unlink(pathOf(folder, name)))),
  );
  let removed = removals.filter(Boolean).length;
  for (const { name } of batch.filter(({ isFolder }) => isFolder)) {
    const path = pathOf(folder, name);
    if (folder === top) {
      await removeFolder(path, top);
      removed += 1;
    } else {
      // To move a folder, the server must be allowed to write to it.
      await makeAccessible(path);
      if (await succeeds(rename(path, pathOf(top, Buffer.from(randomUUID()))))) removed += 1;
    }
  }
  return removed;
}

/** An agent may have closed the folder (chmod 000), and only root can enter it then, not even its owner. */
async function makeAccessible(folder: Buffer): Promise<void> {
  if (process.getuid?.() !== 0) await chmod(folder, 0o700).catch(unlessAbsent);
}

function pathOf(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name]);
}

/** False when the entry was gone. */
async function succeeds(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return false;
  }
}

function unlessAbsent(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}
