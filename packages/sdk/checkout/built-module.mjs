// Lets a program on Node 20 use the SDK of a checkout. Newer Nodes run the TypeScript sources as they are; for others
// the sources are compiled once, when a program first imports the SDK. npm cannot do it while it installs, because this
// repository runs no install scripts.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';

const home = fileURLToPath(new URL('..', import.meta.url));
const cache = join(home, '../../.cache/sdk');

export const runsTypeScript = Boolean(process.features.typescript);

/**
 * Returns the address of a compiled module. The folder is named after the content of the sources, so that changed
 * sources are compiled again.
 * @param {string} name
 */
export function builtModule(name) {
  const folder = join(cache, fingerprint());
  if (!existsSync(folder)) build(folder);
  return pathToFileURL(join(folder, name)).href;
}

function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(home, 'tsconfig.checkout.json')));
  for (const folder of ['src', '../faces/src']) {
    const names = readdirSync(join(home, folder), { recursive: true }).map(String).sort();
    for (const name of names.filter((path) => path.endsWith('.ts'))) {
      hash.update(`${folder}/${name}\0`).update(readFileSync(join(home, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Compiles into a folder of its own and renames that, so that two programs that start together cannot see half of it.
 * @param {string} folder
 */
function build(folder) {
  mkdirSync(cache, { recursive: true });
  const temporary = mkdtempSync(join(cache, 'build-'));
  try {
    compile('tsconfig.checkout.json', temporary, 'pipe');
    renameSync(temporary, folder);
  } catch (cause) {
    if (existsSync(folder)) return;
    const advice = 'run `npm ci` in the checkout, or use Node 22.18 or newer';
    const problem = `Node ${process.versions.node} needs the SDK compiled, which failed`;
    throw new Error(`${problem}: ${advice}`, { cause });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
