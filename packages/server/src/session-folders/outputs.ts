import { type BigIntStats, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from '../confined-fs/file-bytes.ts';
import { ConfinedError, listConfined, openConfined } from '../confined-fs/files.ts';
import type { Log } from '../ports/log.ts';
import type { TakeOutput } from '../ports/session-folders.ts';
import type { FolderManifest } from './manifest.ts';

const folderName = 'outputs';
const filesPerLegMax = 100;
const bytesPerLegMax = 1024 * 1024 * 1024;
const depthMax = 8;
/** Names read per leg, of entries of any kind. */
const namesPerLegMax = 10_000;

export interface Offering {
  readonly take: TakeOutput;
  readonly log: Log;
  readonly namesMax?: number;
}

/**
 * Offers every regular file below `outputs/` that is new, or changed since it was taken. Skips links, since their
 * targets may not belong to the agent. Returns whether `known` may have changed.
 */
export async function offerOutputs(
  root: string,
  known: FolderManifest['outputs'],
  { take, log, namesMax = namesPerLegMax }: Offering,
): Promise<boolean> {
  if (!hasOutputs(root)) return false;
  let taken = 0;
  let bytes = 0;
  let leftOut = 0;
  for await (const path of pathsBelow(root, namesMax)) {
    const handle = await openPlain(root, path);
    if (handle === undefined) continue;
    const stats = await handle.stat({ bigint: true });
    const stamp = stampOf(stats);
    const sizeBytes = Number(stats.size);
    if (known.get(path)?.stamp === stamp) {
      await handle.close();
      continue;
    }
    // A file that is too large must not keep smaller ones from being taken: the walk continues without it.
    if (taken >= filesPerLegMax || bytes + sizeBytes > bytesPerLegMax) {
      await handle.close();
      leftOut += 1;
      if (taken >= filesPerLegMax) break;
      continue;
    }
    const content = bytesOf(handle);
    const id = await take({ path: path.slice(folderName.length + 1), sizeBytes, content });
    // `return` alone does not close the file when `take` never began to read it.
    await content.return(undefined);
    await handle.close();
    if (id === undefined) continue;
    taken += 1;
    bytes += sizeBytes;
    known.set(path, { id, stamp });
  }
  if (leftOut > 0) log.warn('more outputs than are taken after one leg', { taken, bytes });
  return taken > 0;
}

/** Equal until the file is written, replaced or its metadata changes. */
function stampOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

/** Portable stamp of a file that is unchanged since it was taken: times and inodes differ between machines. */
const asTaken = 'as taken';

/** Replaces this machine's stamps of unchanged files by the portable one. */
export async function portableOutputs(
  root: string,
  known: FolderManifest['outputs'],
): Promise<FolderManifest['outputs']> {
  return restamp(root, known, (stamp, found) => (stamp === found ? asTaken : stamp));
}

/** Replaces the portable stamp by this machine's stamps. */
export async function localOutputs(
  root: string,
  known: FolderManifest['outputs'],
): Promise<FolderManifest['outputs']> {
  return restamp(root, known, (stamp, found) => (stamp === asTaken ? found : stamp));
}

async function restamp(
  root: string,
  known: FolderManifest['outputs'],
  change: (stamp: string, found: string) => string,
): Promise<FolderManifest['outputs']> {
  const outputs: FolderManifest['outputs'] = new Map();
  for (const [path, { id, stamp }] of known) {
    const handle = await openPlain(root, path);
    const found = handle === undefined ? '' : stampOf(await handle.stat({ bigint: true }));
    await handle?.close();
    outputs.set(path, { id, stamp: change(stamp, found) });
  }
  return outputs;
}

/** Synchronous because it runs after every leg: see `isFolder` in session-folders.ts. */
function hasOutputs(root: string): boolean {
  return lstatSync(join(root, folderName), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function openPlain(root: string, path: string) {
  try {
    return await openConfined(root, path);
  } catch (error) {
    if (error instanceof ConfinedError) return undefined;
    throw error;
  }
}

async function* pathsBelow(root: string, namesMax: number): AsyncGenerator<string> {
  const folders = [{ path: folderName, depth: 1 }];
  let left = namesMax;
  for (const { path, depth } of folders) {
    const entries = await entriesOf({ root, path }, left);
    left -= entries.length;
    for (const { name, kind } of entries) {
      const inside = `${path}/${name}`;
      if (kind === 'file') yield inside;
      if (kind === 'folder' && depth < depthMax) folders.push({ path: inside, depth: depth + 1 });
    }
  }
}

async function entriesOf(folder: { readonly root: string; readonly path: string }, max: number) {
  try {
    return (await listConfined(folder, max)) ?? [];
  } catch (error) {
    // It may not be a folder any longer, or its name may not be a valid path.
    if (error instanceof ConfinedError) return [];
    throw error;
  }
}
