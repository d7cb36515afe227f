import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFolder } from './built-folder.ts';

const folders = ['../src', '../scripts', '../../sdk/src', '../../contract/src'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** Builds the console of a checkout where it was never built, or a source is newer than the build. */
export async function buildIfStale(): Promise<'built' | 'fresh'> {
  const built = await timeOf(join(builtFolder, 'index.html'));
  const sources = await Promise.all(folders.map(newestIn));
  if (built > Math.max(...sources)) return 'fresh';
  // The bundler is loaded only when there is something to build.
  const { buildConsole } = await import('./build-console.ts');
  await buildConsole();
  return 'built';
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
