import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Account } from '../../ports/sandbox.ts';
import { errorCode, hasCode } from '../../runtime/error-code.ts';
import {
  type FolderPaths,
  archiveBytesMax,
  archiveEntriesMax,
  archiveFormat,
  archived,
} from './archive.ts';
import { NotATar, type TarEntry, readTar } from './tar.ts';

const nameBytesMax = 255;
const targetCharsMax = 4096;
/** Heads, padding and the service's own notes come on top of what is counted when archiving. */
const extraBytesPerEntry = 4096;

/** The archive is not one that we made, or not all of it. */
export class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

export interface RestoreOptions {
  /** A folder on the same disk for what is not complete yet. */
  readonly drafts: string;
  readonly sha256: string;
  /** Whose everything becomes, when that is not the server's own user. */
  readonly account: Account | undefined;
  /** Brings the service's memory of the workspace up to what lies in `workspace` now. */
  readonly settleRecord: (text: string, sessionFolder: string) => Promise<string>;
}

/**
 * Puts an archive in the place of whatever is there. It is unpacked beside it and checked to its last byte first:
 * a crash or a broken archive leaves what was there.
 */
export async function restoreFolder(
  source: AsyncIterable<Uint8Array>,
  place: FolderPaths,
  options: RestoreOptions,
): Promise<void> {
  const draft = join(options.drafts, randomUUID());
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    await unpackChecked(source, draft, options);
    await checkAbout(join(draft, archived.about));
    const sessionFolder = join(draft, archived.sessionFolder);
    const record = join(draft, archived.record);
    const text = await options.settleRecord(await readFile(record, 'utf8'), sessionFolder);
    await writeFile(record, text, { mode: 0o600 });
    for (const path of [place.sessionFolder, place.stateDir, place.record]) {
      await rename(path, join(draft, randomUUID())).catch(unlessAbsent);
    }
    await mkdir(dirname(place.sessionFolder), { recursive: true, mode: 0o700 });
    await rename(record, place.record);
    await rename(join(draft, archived.home), place.stateDir).catch(unlessAbsent);
    // The folder that is looked for comes last.
    await rename(sessionFolder, place.sessionFolder);
  } finally {
    // An ordinary user may not remove what its own agent locked: that is for the next start to try again.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function checkAbout(path: string): Promise<void> {
  const about: unknown = JSON.parse(await readFile(path, 'utf8'));
  const format = typeof about === 'object' && about !== null && 'format' in about && about.format;
  if (format === archiveFormat) return;
  throw new Error(`the workspace was saved by another release (format ${String(format)})`);
}

async function unpackChecked(
  source: AsyncIterable<Uint8Array>,
  draft: string,
  { sha256, account }: RestoreOptions,
): Promise<void> {
  const hash = createHash('sha256');
  let sourceFault: { readonly error: unknown } | undefined;
  const counted = (async function* () {
    try {
      for await (const chunk of source) {
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      sourceFault = { error };
      throw error;
    }
  })();
  const plain = createZstdDecompress();
  pipeline(Readable.from(counted), plain).catch(() => undefined);
  try {
    await unpack(plain, draft, account);
    // To the very end, so that the digest is of the whole.
    for await (const _ of plain);
  } catch (error) {
    // The store's trouble, and no word about the archive.
    if (sourceFault?.error instanceof Error) throw sourceFault.error;
    if (error instanceof NotATar || isOfZlib(error)) {
      throw new BrokenArchive(error.message, { cause: error });
    }
    throw error;
  } finally {
    // Lets go of the source, however far it was read.
    plain.destroy();
  }
  if (hash.digest('hex') !== sha256) throw new BrokenArchive('its digest is another');
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && /^Z(STD)?_/.test(errorCode(error) ?? '');
}

/** Exported for what hostile archives try. */
export async function unpack(
  tar: AsyncIterable<Uint8Array>,
  into: string,
  account: Account | undefined,
): Promise<void> {
  const unpacking = new Unpacking(into, account);
  for await (const entry of readTar(tar)) await unpacking.add(entry);
  await unpacking.finish();
}

/**
 * Nothing leaves the folder: each entry needs a parent that this very unpacking made as a folder, and nothing that
 * was made is ever replaced. So a link can be made but never gone through.
 */
class Unpacking {
  readonly #root: string;
  readonly #account: Account | undefined;
  readonly #folders = new Map<string, number>([['', 0o700]]);
  #entries = 0;
  #bytes = 0;

  constructor(root: string, account: Account | undefined) {
    this.#root = root;
    this.#account = account;
  }

  async add(entry: TarEntry): Promise<void> {
    const { path, sizeBytes, target } = entry;
    this.#entries += 1;
    this.#bytes += sizeBytes;
    if (
      this.#entries > archiveEntriesMax + 2 ||
      this.#bytes > archiveBytesMax + archiveEntriesMax * extraBytesPerEntry
    ) {
      throw new BrokenArchive('it is larger than any that we make');
    }
    const at = this.#placeOf(path);
    switch (entry.kind) {
      case 'folder':
        await mkdir(at, { mode: 0o700 }).catch(refuseTaken);
        this.#folders.set(path, entry.mode & 0o777);
        if (this.#account !== undefined) await chown(at, this.#account.uid, this.#account.gid);
        return;
      case 'link':
        if (target === '' || target.length > targetCharsMax || target.includes('\0')) {
          throw new BrokenArchive('a link points nowhere');
        }
        await symlink(target, at).catch(refuseTaken);
        if (this.#account !== undefined) await lchown(at, this.#account.uid, this.#account.gid);
        return;
      case 'file':
        await this.#write(at, entry);
        return;
      default:
        return entry.kind satisfies never;
    }
  }

  /** What may not be written must be written into first. */
  async finish(): Promise<void> {
    for (const [path, mode] of [...this.#folders].toReversed()) {
      const isOurs = path === '' || path === archived.sessionFolder || path === archived.home;
      await chmod(join(this.#root, path), isOurs ? 0o700 : mode);
    }
  }

  #placeOf(path: string): string {
    const parts = path.split('/');
    const known: readonly string[] = Object.values(archived);
    if (!known.includes(parts[0] ?? '') || !parts.every(isName)) {
      throw new BrokenArchive('an entry lies outside the workspace');
    }
    if (!this.#folders.has(parts.slice(0, -1).join('/'))) {
      throw new BrokenArchive('an entry lies in no folder of the archive');
    }
    return join(this.#root, path);
  }

  async #write(at: string, { mode, modifiedMs, content }: TarEntry): Promise<void> {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    const handle = await open(at, flags, 0o600).catch(refuseTaken);
    try {
      await handle.writeFile(content);
      if (this.#account !== undefined) await handle.chown(this.#account.uid, this.#account.gid);
      // Without the bits that lend somebody's rights.
      await handle.chmod(mode & 0o777);
      await handle.utimes(modifiedMs / 1000, modifiedMs / 1000);
    } finally {
      await handle.close();
    }
  }
}

function isName(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || part.includes('\0')) return false;
  return Buffer.byteLength(part) <= nameBytesMax;
}

function refuseTaken(error: unknown): never {
  if (hasCode(error, 'EEXIST', 'ELOOP')) {
    throw new BrokenArchive('two entries have one name', { cause: error });
  }
  throw error;
}

function unlessAbsent(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}
