import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFolder } from './built-folder.ts';

const folders = [
  '../src',
  '../scripts',
  '../../sdk/src',
  '../../contract/src',
  '../../faces/src',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const buildProgram = fileURLToPath(new URL('build.ts', import.meta.url));

const replaceAttemptsMax = 10;

/**
 * Builds the console of a checkout where it was never built, or a source is newer than the build. The build gets its
 * place when it is whole: another process may serve the one before it, or build at the same time.
 */
export async function buildIfStale(): Promise<'built' | 'fresh'> {
  const built = await timeOf(join(builtFolder, 'index.html'));
  const sources = await Promise.all(folders.map(newestIn));
  if (built > Math.max(...sources)) return 'fresh';
  const unfinished = await mkdtemp(join(dirname(builtFolder), 'dist-'));
  try {
    await buildInOwnProcess(join(unfinished, 'new'));
    await replace(builtFolder, unfinished);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return 'built';
}

/** The bundler would stay in the memory of the server, which continues in this process: a third of a gigabyte. */
async function buildInOwnProcess(folder: string): Promise<void> {
  const builder = spawn(process.execPath, [buildProgram, folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(builder, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The console could not be built; the reason is above.');
}

/**
 * Moves `new` of a folder into place, and what stands there into that folder; again if another process does the same.
 */
async function replace(place: string, folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await timeOf(place)) > 0) await rename(place, join(folder, `old-${attempt}`));
      return await rename(join(folder, 'new'), place);
    } catch (error) {
      if (attempt === replaceAttemptsMax) throw error;
    }
  }
}

async function newestIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const times = await Promise.all(names.map((name) => timeOf(join(folder, name))));
  return Math.max(0, ...times);
}

/** Zero for a file that does not exist. */
async function timeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
