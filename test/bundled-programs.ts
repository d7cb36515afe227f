// The tests start hundreds of servers and commands, each in a process of its own. From a bundle of the sources a
// process starts in half the processor time that it needs for the sources themselves, which are 800 modules.
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './repository.ts';

const sources = {
  convoke: join(root, 'packages/cli/src/main.ts'),
  'mortal-server': join(root, 'packages/server/test/workers/mortal-server.ts'),
  'sdk-server': join(root, 'packages/sdk/test/server-process.ts'),
} as const;
const home = join(root, '.cache/bundled');
const keptMs = 24 * 60 * 60_000;
const variable = 'CONVOKE_TEST_PROGRAMS';

/** The path of a program to start with Node. Where no bundle was made, as outside vitest, it is that of the source. */
export function programPath(name: keyof typeof sources): string {
  const folder = process.env[variable];
  return folder === undefined ? sources[name] : join(folder, 'dist', `${name}.js`);
}

/** Run by vitest before any test file. Workers inherit the variable. A bundle is named by what it was made of. */
export async function setup(): Promise<void> {
  const folder = join(home, await fingerprint());
  if (!existsSync(folder)) await bundle(folder);
  process.env[variable] = folder;
  const now = new Date();
  await utimes(folder, now, now);
  await removeOld(folder);
}

/** Another vitest may do the same in this checkout: the bundle gets its name when it is whole. */
async function bundle(folder: string): Promise<void> {
  await mkdir(home, { recursive: true });
  // Test workers load this file too, and need no bundler.
  const { bundleForCheckout, inlined } = await import('../scripts/bundle-package.ts');
  const unfinished = await mkdtemp(join(home, 'unfinished-'));
  const names = [...inlined.server, ...inlined.cli, '@convoke/server'];
  await bundleForCheckout({ entries: sources, inlined: names, folder: unfinished });
  try {
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const folders = (await readdir(join(root, 'packages')))
    .map((name) => `packages/${name}/src`)
    .filter((folder) => existsSync(join(root, folder)));
  const listed = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
  );
  const makers = ['package-lock.json', 'scripts/bundle-package.ts', 'test/bundled-programs.ts'];
  const files = [
    ...listed.flat(),
    ...Object.values(sources),
    ...makers.map((path) => join(root, path)),
  ];
  for (const path of files.toSorted()) hash.update(path).update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}

/** Of other sources, and of a vitest that was killed. The time of a folder is that of its last use. */
async function removeOld(current: string): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (path === current || usedAt > Date.now() - keptMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}
