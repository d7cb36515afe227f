import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { removeTree } from '../../confined-fs/remove-tree.ts';
import type { Account } from '../../ports/sandbox.ts';
import { errorCode, hasCode } from '../../runtime/error-code.ts';
import type { FolderPaths } from '../folder-paths.ts';
import { archiveFormat, archived } from './archive.ts';
import { NotATar } from './tar.ts';
import { BrokenArchive, unpack } from './unpack.ts';

export interface RestoreOptions {
  /** A folder on the same disk for incomplete restores. */
  readonly drafts: string;
  readonly sha256: string;
  /** Owner of the restored files, when that is not the server's own user. */
  readonly account: Account | undefined;
  /** Adapts the manifest to the files as they were restored on this machine. */
  readonly settleManifest: (text: string, sessionFolder: string) => Promise<string>;
}

/**
 * Replaces a session folder by an archive. The archive is unpacked elsewhere and checked to its last byte first:
 * a crash or a broken archive leaves the old folder untouched.
 */
export async function restoreFolder(
  source: AsyncIterable<Uint8Array>,
  paths: FolderPaths,
  options: RestoreOptions,
): Promise<void> {
  const draft = join(options.drafts, randomUUID());
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    await unpackChecked(source, draft, options);
    await checkAbout(join(draft, archived.about));
    const sessionFolder = join(draft, archived.sessionFolder);
    const manifest = join(draft, archived.manifest);
    const text = await options.settleManifest(await readFile(manifest, 'utf8'), sessionFolder);
    await writeFile(manifest, text, { mode: 0o600 });
    for (const path of [paths.sessionFolder, paths.stateDir, paths.manifest]) {
      await rename(path, join(draft, randomUUID())).catch(unlessAbsent);
    }
    await mkdir(dirname(paths.sessionFolder), { recursive: true, mode: 0o700 });
    await rename(manifest, paths.manifest);
    await rename(join(draft, archived.home), paths.stateDir).catch(unlessAbsent);
    // Last, since the existence of this folder is what `prepare` checks.
    await rename(sessionFolder, paths.sessionFolder);
  } finally {
    // What cannot be removed now, the next start removes.
    await removeTree(draft).catch(() => undefined);
  }
}

async function checkAbout(path: string): Promise<void> {
  const about: unknown = JSON.parse(await readFile(path, 'utf8'));
  const format = typeof about === 'object' && about !== null && 'format' in about && about.format;
  if (format === archiveFormat) return;
  throw new Error(`the session folder was saved by another release (format ${String(format)})`);
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
    // Read to the end, so that the digest covers the whole archive.
    for await (const _ of plain);
  } catch (error) {
    // The blob store failed; the archive itself may be fine.
    if (sourceFault?.error instanceof Error) throw sourceFault.error;
    if (error instanceof NotATar || isZlibError(error)) {
      throw new BrokenArchive(error.message, { cause: error });
    }
    throw error;
  } finally {
    // Releases the source, however far it was read.
    plain.destroy();
  }
  if (hash.digest('hex') !== sha256) throw new BrokenArchive('its digest does not match');
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && /^Z(STD)?_/.test(errorCode(error) ?? '');
}

function unlessAbsent(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}
