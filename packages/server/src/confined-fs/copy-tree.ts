import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import {
  type FileHandle,
  chmod,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf, digestOf } from './file-bytes.ts';
import { type NameBudget, walkConfined } from './walk.ts';

export interface CopiedFile {
  /** Relative to the folder that was copied, with forward slashes. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Copies a folder whose content is not trusted, and yields each file with its digest. Follows no link, and skips what
 * vanishes in the meantime: see `walk.ts`. Owners and times are kept; users other than the owner get no access to the
 * copy.
 */
export async function* copyTree(
  from: string,
  to: string,
  budget: NameBudget,
): AsyncGenerator<CopiedFile> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const folders = [{ path: to, stats: await lstat(from, { bigint: true }) }];
  for await (const entry of walkConfined(from, budget)) {
    const target = join(to, entry.path);
    if (entry.kind === 'folder') {
      await mkdir(target, { mode: 0o700 });
      folders.push({ path: target, stats: entry.stats });
    } else if (entry.kind === 'link') {
      await symlink(entry.target, target);
      await keepOwner(target, entry.stats);
    } else {
      const source = await entry.open().catch(() => undefined);
      if (source === undefined) continue;
      const copied = await copyFile(source, target);
      await chmod(target, Number(entry.stats.mode & 0o700n));
      await keepOwner(target, entry.stats);
      yield { path: entry.path, ...copied };
    }
  }
  // Deepest first and last of all: each new entry changes the time of its folder, and one may be closed to its owner.
  for (const { path, stats } of folders.reverse()) {
    await keepOwner(path, stats);
    await chmod(path, Number(stats.mode & 0o700n));
  }
}

/** Copies an open file, closes it, and reads the copy again to see that it has the same bytes. */
export async function copyFile(
  source: FileHandle,
  to: string,
): Promise<Pick<CopiedFile, 'sha256' | 'bytes'>> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY } = constants;
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for await (const chunk of bytesOf(source)) {
      hash.update(chunk);
      // An agent may have made a file of terabytes of nothing: what was not written takes no room.
      if (!isZero(chunk)) await target.write(chunk, 0, chunk.length, bytes);
      bytes += chunk.length;
    }
    await target.truncate(bytes);
    await target.sync();
  } finally {
    await target.close();
  }
  const sha256 = hash.digest('hex');
  if ((await digestOf(await open(to, O_RDONLY | O_NOFOLLOW))) !== sha256) {
    throw new Error(`${to} is not what was written: the disk may be damaged`);
  }
  return { sha256, bytes };
}

const zeros = Buffer.alloc(128 * 1024);

function isZero(chunk: Uint8Array): boolean {
  return chunk.length <= zeros.length && zeros.subarray(0, chunk.length).equals(chunk);
}

/**
 * Only root can give files to another user; agents' programs have a user of their own only where the server is root.
 */
async function keepOwner(path: string, { uid, gid, atimeMs, mtimeMs }: BigIntStats): Promise<void> {
  if (process.getuid?.() === 0) await lchown(path, Number(uid), Number(gid));
  await lutimes(path, Number(atimeMs) / 1000, Number(mtimeMs) / 1000);
}
