import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { TooDeep, type WalkedEntry, walkConfined } from '../../confined-fs/walk.ts';
import { errorCode } from '../../runtime/error-code.ts';
import { tarEnd, tarHead, tarPadding } from './tar.ts';

/** A workspace beyond these stays on its machine. */
export const archiveEntriesMax = 100_000;
export const archiveBytesMax = 2 * 1024 ** 3;
export const archiveFormat = 1;

const chunkBytes = 256 * 1024;

/** Where the parts of a session's workspace lie. */
export interface FolderPaths {
  readonly sessionFolder: string;
  readonly stateDir: string;
  readonly record: string;
}

/** What the parts are called inside an archive. */
export const archived = {
  about: 'about.json',
  record: 'record.json',
  sessionFolder: 'workspace',
  home: 'home',
} as const;

export interface FolderFingerprint {
  /** Equal as long as nothing was changed. */
  readonly fingerprint: string;
  readonly problem?: 'too_large' | 'not_stored';
}

/** How a workspace looks in which there is nothing at all. */
export const bare = 'bare';
const unfit: FolderFingerprint = { fingerprint: '', problem: 'too_large' };

/** Looks at names, sizes and times, and reads nothing. */
export async function fingerprintFolder(place: FolderPaths): Promise<FolderFingerprint> {
  if (isBare(place)) return { fingerprint: bare };
  const hash = createHash('sha256');
  let entries = 0;
  let bytes = 0n;
  try {
    for await (const entry of partsOf(place)) {
      entries += 1;
      if (entry.kind === 'file') bytes += entry.stats.size;
      if (entries > archiveEntriesMax || bytes > archiveBytesMax) return unfit;
      hash.update(lineOf(entry));
    }
  } catch (error) {
    if (error instanceof TooDeep) return unfit;
    throw error;
  }
  const record = lstatSync(place.record, { bigint: true, throwIfNoEntry: false });
  if (record !== undefined) hash.update(timesOf(record));
  return { fingerprint: hash.digest('hex') };
}

/** Synchronous for the same reason as looking for the folder itself: it is asked after every leg. */
function isBare({ sessionFolder, stateDir, record }: FolderPaths): boolean {
  const isEmpty = (folder: string) =>
    lstatSync(folder, { throwIfNoEntry: false }) === undefined || readdirSync(folder).length === 0;
  const hasRecord = lstatSync(record, { throwIfNoEntry: false }) !== undefined;
  return !hasRecord && isEmpty(sessionFolder) && isEmpty(stateDir);
}

/** Times of folders are left out: they change with what is in them. */
function lineOf(entry: WalkedEntry): string {
  const { path, kind, stats } = entry;
  const rest = kind === 'folder' ? '' : timesOf(stats);
  return `${path}\0${kind} ${stats.mode} ${rest}${kind === 'link' ? entry.target : ''}\0`;
}

function timesOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino} `;
}

async function* partsOf({ sessionFolder, stateDir }: FolderPaths): AsyncGenerator<WalkedEntry> {
  for (const [name, folder] of [
    [archived.sessionFolder, sessionFolder],
    [archived.home, stateDir],
  ] as const) {
    const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) continue;
    yield { path: name, kind: 'folder', stats };
    for await (const entry of walkConfined(folder))
      yield { ...entry, path: `${name}/${entry.path}` };
  }
}

export interface ArchiveNotes {
  /** Which leg it is of: no two archives are equal, so that removing one never takes another. */
  readonly leg: string;
  /** The service's memory of what it put into the workspace. */
  readonly record: string;
}

/** The whole workspace as a tar, compressed with zstd. */
export function archiveFolder(place: FolderPaths, notes: ArchiveNotes): AsyncIterable<Uint8Array> {
  const fast = { [constants.ZSTD_c_compressionLevel]: 1 };
  const compressed = createZstdCompress({ params: fast });
  // What goes wrong here is thrown by whoever reads the other end.
  pipeline(Readable.from(tarOf(place, notes)), compressed).catch(() => undefined);
  return compressed;
}

async function* tarOf(
  place: FolderPaths,
  { leg, record }: ArchiveNotes,
): AsyncGenerator<Uint8Array> {
  yield* textEntry(archived.about, JSON.stringify({ format: archiveFormat, leg }));
  yield* textEntry(archived.record, record);
  for await (const entry of partsOf(place)) yield* tarEntry(entry);
  yield tarEnd;
}

function* textEntry(path: string, text: string): Generator<Uint8Array> {
  const content = Buffer.from(text);
  const sizeBytes = content.length;
  yield tarHead({ path, kind: 'file', mode: 0o600, modifiedMs: 0, target: '', sizeBytes });
  yield content;
  yield tarPadding(sizeBytes);
}

async function* tarEntry(entry: WalkedEntry): AsyncGenerator<Uint8Array> {
  const { path, kind, stats } = entry;
  const mode = Number(stats.mode & 0o777n);
  const head = { path, kind, mode, modifiedMs: Number(stats.mtimeMs), target: '', sizeBytes: 0 };
  if (entry.kind !== 'file') {
    yield tarHead({ ...head, target: entry.kind === 'link' ? entry.target : '' });
    return;
  }
  const handle = await entry.open().catch(unlessGone);
  if (handle === undefined) return;
  try {
    const opened = await handle.stat();
    if (!opened.isFile()) return;
    yield tarHead({ ...head, sizeBytes: opened.size });
    yield* exactly(handle, opened.size);
    yield tarPadding(opened.size);
  } finally {
    await handle.close();
  }
}

/** Its length is already told: of a file that grows the rest waits for the next archive, one that shrinks is filled up. */
async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const length = Math.min(chunkBytes, size - at);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    yield bytesRead === 0 ? Buffer.alloc(length) : buffer.subarray(0, bytesRead);
    at += bytesRead === 0 ? length : bytesRead;
  }
}

function unlessGone(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ELOOP') throw error;
}
