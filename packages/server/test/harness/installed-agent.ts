import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { removeFolder } from '../../../../test/remove-folder.ts';

const cache = fileURLToPath(new URL('../../../../.cache/agents', import.meta.url));

export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  /** Set where the agent is a single package. */
  readonly integrity?: string;
}

/** Packages that are installed together, such as a framework with the versions it is tested with. */
export interface PackageSet {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

/**
 * The `node_modules` that holds a real agent, fetched once into `.cache/agents` of the checkout. Real agents are not
 * dependencies of the project: they are large, and running Convoke does not need them.
 */
export async function installedAgent(wanted: AgentPackage): Promise<string> {
  const { name, version, integrity } = wanted;
  const dependencies = { [name]: version };
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
  const home = await installed(`${name.replaceAll(/[@/]+/g, '-')}-${version}`, {
    'package.json': { dependencies },
    ...(integrity !== undefined && { 'package-lock.json': { lockfileVersion: 3, packages } }),
  });
  return join(home, 'node_modules');
}

/** The folder in which the packages are installed, fetched once as a real agent is. */
export function installedPackages({ name, ...manifest }: PackageSet): Promise<string> {
  return installed(name, { 'package.json': { type: 'module', ...manifest } });
}

async function installed(name: string, files: Files): Promise<string> {
  const place = `${name}-${process.platform}-${process.arch}`;
  const home = join(cache, place.replace(/^-/, ''));
  if (!existsSync(home)) await fetchInto(home, files);
  return home;
}

type Files = Readonly<Record<string, object>>;

/** Installs into a temporary folder and renames it, so that two installs cannot collide. */
async function fetchInto(home: string, files: Files): Promise<void> {
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, 'fetch-'));
  try {
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(temporary, file), JSON.stringify(content));
    }
    const command = 'package-lock.json' in files ? 'ci' : 'install';
    const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', [command, ...options], { cwd: temporary });
    // Agents run as another user, who must be able to read the files.
    await chmod(temporary, 0o755);
    await rename(temporary, home);
  } catch (cause) {
    if (existsSync(home)) return;
    throw new Error(`could not fetch ${basename(home)} from npm`, { cause });
  } finally {
    await removeFolder(temporary);
  }
}
