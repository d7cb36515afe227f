import { constants } from 'node:fs';
import { chmod, chown, lchown, mkdir, open, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '../../ports/sandbox.ts';
import { hasCode } from '../../runtime/error-code.ts';
import { archiveBytesMax, archiveEntriesMax, archived } from './archive.ts';
import { type TarEntry, readTar } from './tar.ts';

const nameBytesMax = 255;
const targetCharsMax = 4096;
/** Headers, padding, about.json and the manifest are not counted when archiving. */
const extraBytesPerEntry = 4096;

/** The archive was not written by this service, or is incomplete. */
export class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

/** Unpacks a tar that may be hostile: nothing is written outside `into`. */
export async function unpack(
  tar: AsyncIterable<Uint8Array>,
  into: string,
  account: Account | undefined,
): Promise<void> {
  const unpacker = new Unpacker(into, account);
  for await (const entry of readTar(tar)) await unpacker.add(entry);
  await unpacker.finish();
}

/**
 * Writes entries below one folder. The parent of each entry must be a folder that this unpacker made, and nothing is
 * ever replaced. So an archive may create a link, but nothing is written through it.
 */
class Unpacker {
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
      throw new BrokenArchive('it is larger than the service writes');
    }
    const at = this.#pathOf(path);
    switch (entry.kind) {
      case 'folder':
        await mkdir(at, { mode: 0o700 }).catch(refuseTaken);
        this.#folders.set(path, entry.mode & 0o777);
        if (this.#account !== undefined) await chown(at, this.#account.uid, this.#account.gid);
        return;
      case 'link':
        if (target === '' || target.length > targetCharsMax || target.includes('\0')) {
          throw new BrokenArchive('a link has no valid target');
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

  /** Sets the modes of folders last: a read-only folder must be filled before. */
  async finish(): Promise<void> {
    for (const [path, mode] of [...this.#folders].toReversed()) {
      const isOurs = path === '' || path === archived.sessionFolder || path === archived.home;
      await chmod(join(this.#root, path), isOurs ? 0o700 : mode);
    }
  }

  #pathOf(path: string): string {
    const parts = path.split('/');
    const known: readonly string[] = Object.values(archived);
    if (!known.includes(parts[0] ?? '') || !parts.every(isName)) {
      throw new BrokenArchive('an entry is outside the session folder');
    }
    if (!this.#folders.has(parts.slice(0, -1).join('/'))) {
      throw new BrokenArchive('the folder of an entry is not in the archive');
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
      // Drops the setuid, setgid and sticky bits.
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
    throw new BrokenArchive('two entries have the same name', { cause: error });
  }
  throw error;
}
