import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { isEmptyFolder } from '../../confined-fs/folder-entries.ts';
import {
  FolderTooLarge,
  UnsupportedPath,
  type WalkedEntry,
  walkConfined,
} from '../../confined-fs/walk.ts';
import type { FolderProblem } from '../../ports/session-folders.ts';
import { hasCode } from '../../runtime/error-code.ts';
import type { FolderPaths } from '../folder-paths.ts';
import { tarEnd, tarHead, tarPadding } from './tar.ts';

/** A session folder beyond these limits is not archived and stays on its machine. Names of any kind count. */
export const archiveEntriesMax = 100_000;
export const archiveBytesMax = 2 * 1024 ** 3;
export const archiveFormat = 1;

const chunkBytes = 256 * 1024;

/** Names of the parts inside an archive. They are a stored format and stay as they are. */
export const archived = {
  about: 'about.json',
  manifest: 'record.json',
  sessionFolder: 'workspace',
  home: 'home',
} as const;

export interface FolderFingerprint {
  /** Equal until something changes. */
  readonly fingerprint: string;
  /** Size of all files. */
  readonly bytes: number;
  readonly problem?: FolderProblem;
}

/** Fingerprint of a session folder with nothing in it. */
export const bareFingerprint = 'bare';
const tooLarge: FolderFingerprint = { fingerprint: '', bytes: Infinity, problem: 'too_large' };
const unsupportedPath: FolderFingerprint = {
  fingerprint: '',
  bytes: Infinity,
  problem: 'unsupported_path',
};

/** Digests names, modes, sizes, times and inodes; reads no file. */
export async function fingerprintFolder(
  paths: FolderPaths,
  namesMax = archiveEntriesMax,
): Promise<FolderFingerprint> {
  if (isBare(paths)) return { fingerprint: bareFingerprint, bytes: 0 };
  const hash = createHash('sha256');
  let bytes = 0n;
  try {
    for await (const entry of entriesOf(paths, namesMax)) {
      if (entry.kind === 'file') bytes += entry.stats.size;
      if (bytes > archiveBytesMax) return tooLarge;
      hash.update(lineOf(entry));
    }
  } catch (error) {
    if (error instanceof FolderTooLarge) return tooLarge;
    if (error instanceof UnsupportedPath) return unsupportedPath;
    throw error;
  }
  const manifest = lstatSync(paths.manifest, { bigint: true, throwIfNoEntry: false });
  if (manifest !== undefined) hash.update(timesOf(manifest));
  return { fingerprint: hash.digest('hex'), bytes: Number(bytes) };
}

/** Synchronous because it runs after every leg: see `isFolder` in session-folders.ts. */
function isBare({ sessionFolder, stateDir, manifest }: FolderPaths): boolean {
  const hasManifest = lstatSync(manifest, { throwIfNoEntry: false }) !== undefined;
  return !hasManifest && isEmptyFolder(sessionFolder) && isEmptyFolder(stateDir);
}

/** Leaves out the times of folders: they change with every entry added or removed. */
function lineOf(entry: WalkedEntry): string {
  const { path, kind, stats } = entry;
  const rest = kind === 'folder' ? '' : timesOf(stats);
  return `${path}\0${kind} ${stats.mode} ${rest}${kind === 'link' ? entry.target : ''}\0`;
}

function timesOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino} `;
}

async function* entriesOf(
  { sessionFolder, stateDir }: FolderPaths,
  namesMax: number,
): AsyncGenerator<WalkedEntry> {
  const budget = { left: namesMax };
  for (const [name, folder] of [
    [archived.sessionFolder, sessionFolder],
    [archived.home, stateDir],
  ] as const) {
    const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) continue;
    yield { path: name, kind: 'folder', stats };
    for await (const entry of walkConfined(folder, budget))
      yield { ...entry, path: `${name}/${entry.path}` };
  }
}

export interface ArchiveNotes {
  /** The leg it was made after. It makes every archive unique, so that removing one blob never removes another. */
  readonly leg: string;
  readonly manifest: string;
}

/** Archives the whole session folder and HOME as a tar, compressed with zstd. */
export function archiveFolder(paths: FolderPaths, notes: ArchiveNotes): AsyncIterable<Uint8Array> {
  const fast = { [constants.ZSTD_c_compressionLevel]: 1 };
  const compressed = createZstdCompress({ params: fast });
  // The reader of `compressed` gets the error.
  pipeline(Readable.from(tarOf(paths, notes)), compressed).catch(() => undefined);
  return compressed;
}

async function* tarOf(
  paths: FolderPaths,
  { leg, manifest }: ArchiveNotes,
): AsyncGenerator<Uint8Array> {
  yield* textEntry(archived.about, JSON.stringify({ format: archiveFormat, leg }));
  yield* textEntry(archived.manifest, manifest);
  for await (const entry of entriesOf(paths, archiveEntriesMax)) yield* tarEntry(entry);
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

/** The header already states the size: truncates a file that grew, fills one that shrank with zeros. */
async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const length = Math.min(chunkBytes, size - at);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    yield bytesRead === 0 ? Buffer.alloc(length) : buffer.subarray(0, bytesRead);
    at += bytesRead === 0 ? length : bytesRead;
  }
}

function unlessGone(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT', 'ELOOP')) throw error;
}
