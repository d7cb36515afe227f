// Compiles the SDK together with the faces, which are part of it: a program that installs the SDK gets no other
// package.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(home, '../../node_modules/typescript/bin/tsc');

/**
 * Writes the compiled modules of a project of this package into a folder, and those of the faces into `faces` in it.
 * @param {string} project
 * @param {string} folder
 * @param {import('node:child_process').StdioOptions} stdio
 */
export function compile(project, folder, stdio) {
  mkdirSync(folder, { recursive: true });
  const built = mkdtempSync(join(folder, 'build-'));
  const args = [tsc, '-p', join(home, project), '--outDir', built];
  execFileSync(process.execPath, args, { cwd: home, stdio });
  for (const name of readdirSync(built, { recursive: true }).map(String)) {
    if (!/\.[jt]s$/.test(name)) continue;
    const place = name
      .split(sep)
      .join('/')
      .replace(/^sdk\/src\//, '')
      .replace(/^faces\/src\//, 'faces/');
    const path = relative(dirname(place), 'faces/index.js').split(sep).join('/');
    const text = readFileSync(join(built, name), 'utf8');
    const specifier = path.startsWith('.') ? path : `./${path}`;
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(
      join(folder, place),
      text.replace(/(['"])@convoke\/faces\1/g, `$1${specifier}$1`),
    );
  }
  rmSync(built, { recursive: true });
}
