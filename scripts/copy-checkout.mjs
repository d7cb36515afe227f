// Copies this checkout, for what changes its files.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runQuietly } from '../packages/launch/src/processes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Copies the files that git keeps, with changes that are not committed. Packages of npm are linked; those of this
 * repository are linked to the copy, so that a change there is in the code that other packages import.
 * @param {string} folder
 */
export async function copyCheckout(folder) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { end, said } = await runQuietly('git', list, { cwd: root });
  if (end !== 0) throw new Error(`git ls-files failed: ${said}`);
  for (const path of said.split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  linkModules('node_modules', folder);
  const packages = readdirSync(join(root, 'packages'));
  for (const name of packages) linkModules(`packages/${name}/node_modules`, folder);
}

/**
 * @param {string} at
 * @param {string} folder
 */
function linkModules(at, folder) {
  for (const entry of namesIn(join(root, at))) {
    const [from, to] = [join(root, at, entry.name), join(folder, at, entry.name)];
    mkdirSync(dirname(to), { recursive: true });
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (['@convoke', '.bin'].includes(entry.name)) linkModules(join(at, entry.name), folder);
    else if (!entry.name.startsWith('.')) symlinkSync(from, to);
  }
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
