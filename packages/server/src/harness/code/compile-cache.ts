import { randomUUID } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../confined-fs/remove-tree.ts';
import { FolderTooLarge, UnsupportedPath, walkConfined } from '../../confined-fs/walk.ts';
import type { Sandbox } from '../../ports/sandbox.ts';

const namesMax = 20_000;
const bytesMax = 256 * 1024 * 1024;
/** The current one, and the one before it: a leg that is just starting may still use it. */
const keptMax = 2;

/**
 * Compiled code of agents, as the run that loads them when their folder is read has left it (D-184). Legs get it
 * read-only: a cache that sessions could write would be code that one tenant hands to another.
 */
export class CompileCaches {
  readonly #sandbox: Sandbox;
  /** By the agent's folder, the newest first. */
  readonly #caches = new Map<string, readonly string[]>();

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** The folder with the compiled code of an agent. */
  of(agentFolder: string): string | undefined {
    return this.#caches.get(agentFolder)?.[0];
  }

  /** Takes over the folder that a preparation has written. What is too large for a cache is left there. */
  async takeOver(agentFolder: string, written: string): Promise<void> {
    if (!(await isCache(written))) return;
    const folder = join(this.#sandbox.folder, 'compile-cache');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, randomUUID());
    await rename(written, path);
    const all = [path, ...(this.#caches.get(agentFolder) ?? [])];
    this.#caches.set(agentFolder, all.slice(0, keptMax));
    for (const old of all.slice(keptMax)) await removeTree(old);
  }
}

/** The variable that names the cache to the runtime of a program. */
export function cacheVariable(entry: string, path: string): Readonly<Record<string, string>> {
  return entry.endsWith('.py') ? { PYTHONPYCACHEPREFIX: path } : { NODE_COMPILE_CACHE: path };
}

/** Whether the folder has files and folders only, and not too many: the program that wrote it is not trusted. */
async function isCache(folder: string): Promise<boolean> {
  let bytes = 0;
  try {
    for await (const { kind, stats } of walkConfined(folder, { left: namesMax })) {
      bytes += Number(stats.size);
      if (kind === 'link' || bytes > bytesMax) return false;
    }
    return bytes > 0;
  } catch (error) {
    if (error instanceof FolderTooLarge || error instanceof UnsupportedPath) return false;
    throw error;
  }
}
