import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.ts';

/**
 * A folder for programs that a test writes and that import the packages of `base`, so it is inside the repository. Git
 * ignores it: the checks and the tests that read the repository's files run at the same time and must not see it.
 */
export async function openProgramFolder(
  base: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const cache = join(base, '.cache');
  await mkdir(cache, { recursive: true });
  const path = await mkdtemp(join(cache, 'programs-'));
  return { path, [Symbol.asyncDispose]: () => removeFolder(path) };
}
