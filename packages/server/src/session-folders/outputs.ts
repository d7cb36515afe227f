import { type BigIntStats, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from '../confined-fs/file-bytes.ts';
import { Confined, listConfined, openConfined } from '../confined-fs/files.ts';
import type { Log } from '../ports/log.ts';
import type { TakeOutput } from '../ports/session-folders.ts';
import type { FolderManifest } from './manifest.ts';

const folderName = 'outputs';
const filesPerLegMax = 100;
const bytesPerLegMax = 1024 * 1024 * 1024;
const depthMax = 8;
/** How many names are looked at, whatever they are. */
const entriesMax = 10_000;

/**
 * Offers every plain file below `outputs/` that is new, or changed since it was taken. Links are passed over:
 * what they lead to is not the agent's to give. Answers whether `known` changed.
 */
export async function offerOutputs(
  root: string,
  known: FolderManifest['outputs'],
  { take, log }: { readonly take: TakeOutput; readonly log: Log },
): Promise<boolean> {
  if (!hasOutputs(root)) return false;
  let files = 0;
  let bytes = 0;
  for await (const path of pathsBelow(root, folderName)) {
    const handle = await openPlain(root, path);
    if (handle === undefined) continue;
    const stats = await handle.stat({ bigint: true });
    const stamp = stampOf(stats);
    const sizeBytes = Number(stats.size);
    if (known.get(path)?.stamp === stamp) {
      await handle.close();
      continue;
    }
    files += 1;
    bytes += sizeBytes;
    if (files > filesPerLegMax || bytes > bytesPerLegMax) {
      await handle.close();
      log.warn('more outputs than are taken after one leg', { files, bytes });
      break;
    }
    const content = bytesOf(handle);
    const id = await take({ path: path.slice(folderName.length + 1), sizeBytes, content });
    // Closes the file also when nobody began to read it.
    await content.return(undefined);
    await handle.close();
    if (id !== undefined) known.set(path, { id, stamp });
  }
  return files > 0;
}

/** Equal as long as nobody touched the file. */
function stampOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

/** In the place of the stamp of a file that is as it was taken: on another machine it looks different. */
const asTaken = 'as taken';

/** The outputs as another machine can understand them. */
export async function portableOutputs(
  root: string,
  known: FolderManifest['outputs'],
): Promise<FolderManifest['outputs']> {
  return restamped(root, known, (stamp, found) => (stamp === found ? asTaken : stamp));
}

/** The reverse, on the other machine. */
export async function settledOutputs(
  root: string,
  known: FolderManifest['outputs'],
): Promise<FolderManifest['outputs']> {
  return restamped(root, known, (stamp, found) => (stamp === asTaken ? found : stamp));
}

async function restamped(
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

/** Synchronous for the same reason as looking for the folder itself: it is asked after every leg. */
function hasOutputs(root: string): boolean {
  return lstatSync(join(root, folderName), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function openPlain(root: string, path: string) {
  try {
    return await openConfined(root, path);
  } catch (error) {
    if (error instanceof Confined) return undefined;
    throw error;
  }
}

async function* pathsBelow(root: string, top: string): AsyncGenerator<string> {
  const folders = [{ path: top, depth: 1 }];
  let seen = 0;
  for (const { path, depth } of folders) {
    for (const { name, kind } of await entriesOf(root, path)) {
      seen += 1;
      if (seen > entriesMax) return;
      const inside = `${path}/${name}`;
      if (kind === 'file') yield inside;
      if (kind === 'folder' && depth < depthMax) folders.push({ path: inside, depth: depth + 1 });
    }
  }
}

async function entriesOf(root: string, path: string) {
  try {
    return (await listConfined(root, path)) ?? [];
  } catch (error) {
    // It may have become something else, or have a name that no path can have.
    if (error instanceof Confined) return [];
    throw error;
  }
}
