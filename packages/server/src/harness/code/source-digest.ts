import { type Hash, createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentFileError } from '../../confined-fs/agent-file.ts';
import { ConfinedError, openConfined } from '../../confined-fs/files.ts';
import { FolderTooLarge, UnsupportedPath, walkConfined } from '../../confined-fs/walk.ts';

const namesMax = 10_000;
const bytesMax = 64 * 1024 * 1024;

/**
 * Identifies the code of an agent by the bytes of the named files and of everything in `src/`. A leg compares it with
 * that of the previous leg, to see whether the author edited the agent. Follows no link, and throws an `AgentFileError`
 * for one.
 */
export async function digestSources(folder: string, names: readonly string[]): Promise<string> {
  const sources = new SourceDigest();
  for (const name of names) await sources.add(name, await openOwn(folder, name));
  try {
    for await (const entry of walkConfined(join(folder, 'src'), { left: namesMax })) {
      const path = `src/${entry.path}`;
      if (entry.kind === 'link') throw new AgentFileError(linkRefused(path));
      if (entry.kind === 'file') await sources.add(path, await entry.open());
    }
  } catch (error) {
    if (error instanceof FolderTooLarge)
      throw new AgentFileError(`src/ has more than ${namesMax} files and folders`, {
        cause: error,
      });
    if (error instanceof UnsupportedPath)
      throw new AgentFileError(`src/ cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
  return sources.digest();
}

async function openOwn(folder: string, name: string): Promise<FileHandle | undefined> {
  try {
    return await openConfined(folder, name);
  } catch (error) {
    if (!(error instanceof ConfinedError)) throw error;
    if (error.code === 'ELOOP') throw new AgentFileError(linkRefused(name), { cause: error });
    // Another kind of entry than a file is no source.
    return undefined;
  }
}

function linkRefused(path: string): string {
  return `${path} is a link: put the file itself there, because links in an agent's sources are not followed`;
}

class SourceDigest {
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;

  /** Adds a file and closes it. One that does not exist has no part in the digest. */
  async add(path: string, file: FileHandle | undefined): Promise<void> {
    if (file === undefined) return;
    const { size } = await file.stat();
    this.#hash.update(`/${path} ${size}\0`);
    try {
      for await (const chunk of file.createReadStream({ autoClose: false })) {
        this.#bytes += (chunk as Buffer).length;
        if (this.#bytes > bytesMax) {
          throw new AgentFileError(`the sources are larger than ${bytesMax / 1024 / 1024} MiB`);
        }
        this.#hash.update(chunk as Buffer);
      }
    } finally {
      await file.close();
    }
  }

  digest(): string {
    return this.#hash.digest('base64url');
  }
}
