// Installs what package-lock.json names, if node_modules holds something else. Runs on the Node Convoke runs on.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun } from './processes.mjs';

const lockWaitMs = 10 * 60_000;

/** @param {string} root */
export async function ensureDependencies(
  root = fileURLToPath(new URL('../../..', import.meta.url)),
) {
  const stamp = join(root, 'node_modules', '.convoke-installed');
  const wanted = fingerprint(root);
  const isCurrent = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isCurrent()) return;

  const unlock = await lock(join(root, '.cache'));
  try {
    if (isCurrent()) return;
    if (isInstalledByHand(root)) return await writeFile(stamp, wanted);
    console.error('convoke: installing dependencies (npm ci)');
    await rm(stamp, { force: true });
    await mustRun('npm', ['ci', '--include=dev'], { cwd: root });
    await writeFile(stamp, wanted);
  } finally {
    unlock();
  }
}

/** @typedef {{ version?: string, optional?: boolean, os?: string[], cpu?: string[] }} Locked */

/**
 * Whether an `npm ci` without the launcher installed what package-lock.json names. npm records what it installed, so
 * nothing has to be installed again, least of all below programs that use it.
 * @param {string} root
 */
function isInstalledByHand(root) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(record);
  const isSuitable = (/** @type {Locked} */ { os = [process.platform], cpu = [process.arch] }) =>
    os.includes(process.platform) && cpu.includes(process.arch);
  const isThere = (/** @type {[string, Locked]} */ [path, { version, optional = false }]) => {
    const found = installed[path];
    return found === undefined ? path === '' || optional : found.version === version;
  };
  return (
    Object.entries(wanted).every(isThere) &&
    Object.entries(installed).every(([path, found]) => path in wanted && isSuitable(found))
  );
}

/**
 * @param {string} path
 * @returns {Record<string, Locked>}
 */
function packagesOf(path) {
  const { packages } = /** @type {{ packages: Record<string, Locked> }} */ (
    JSON.parse(readFileSync(path, 'utf8'))
  );
  return packages;
}

/**
 * The platform is part of it: some tools are native programs, and a checkout may be shared with a container.
 * @param {string} root
 */
function fingerprint(root) {
  const locked = readFileSync(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(locked).digest('hex');
  return `${hash} ${process.platform}-${process.arch}\n`;
}

/**
 * Two installs at once would tear node_modules apart. An exclusive SQLite transaction is a lock that the
 * operating system releases when its holder dies.
 * @param {string} folder
 */
async function lock(folder) {
  await mkdir(folder, { recursive: true });
  // Imported here because Node 20, which may have loaded this file, has no node:sqlite.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(folder, 'install.lock'), { timeout: lockWaitMs });
  database.exec('begin exclusive');
  return () => database.close();
}
