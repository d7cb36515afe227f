import { createHash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from '../confined-fs/path.ts';

const entriesMax = 10_000;
const depthMax = 32;
/** The folders whose content is copied into sessions, and the sources of agents as code. Others are not scanned. */
const scanned = new Set(['workspace', 'skills', 'src']);

export interface FolderScan {
  /** The real path, where `agents/<name>` is a link. */
  readonly folder: string;
  /** Changes whenever a file of the agent's definition was touched. */
  readonly fingerprint: string;
  /** Directories to watch. The inode shows that a directory was replaced and needs a new watch. */
  readonly directories: readonly { readonly path: string; readonly inode: number }[];
  readonly problem: string | undefined;
  /** Whether there is an `agent.yaml`. */
  readonly hasDefinition: boolean;
}

/** Scans one agent folder without reading its files. Reports the first problem: a bad link, or too many files. */
export async function scanFolder(path: string): Promise<FolderScan> {
  const folder = await realpath(path);
  const hash = createHash('sha256');
  const directories: { path: string; inode: number }[] = [];
  const waiting: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  let entries = 0;
  let problem: string | undefined;
  let hasDefinition = false;

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path: directory, depth } = next;
    directories.push({
      path: join(folder, directory),
      inode: (await lstat(join(folder, directory))).ino,
    });
    for (const entry of sorted(await readdir(join(folder, directory), { withFileTypes: true }))) {
      entries += 1;
      if (entries > entriesMax || depth > depthMax) {
        problem ??= `contains more than ${entriesMax} files or folders nested deeper than ${depthMax}`;
        break;
      }
      const below = join(directory, entry.name);
      if (below === 'agent.yaml') hasDefinition = true;
      if (entry.isDirectory()) {
        hash.update(`${below}/\0`);
        if (depth > 0 || scanned.has(entry.name)) waiting.push({ path: below, depth: depth + 1 });
        continue;
      }
      hash.update(`${below}\0${mark(await lstat(join(folder, below)))}\0`);
      if (entry.isSymbolicLink()) problem ??= await linkProblem(folder, below);
    }
    if (entries > entriesMax) break;
  }
  return { folder, fingerprint: hash.digest('base64'), directories, problem, hasDefinition };
}

async function linkProblem(folder: string, link: string): Promise<string | undefined> {
  const target = await realpath(join(folder, link)).catch(() => undefined);
  if (target === undefined) return `${link} is a link to a file that does not exist`;
  return isWithin(folder, target) ? undefined : `${link} is a link that leaves the agent's folder`;
}

function mark(stats: Stats): string {
  return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function sorted(entries: Dirent[]): Dirent[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
