import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/**
 * The `node_modules` that holds a real agent, fetched once into `.cache/agents` of the checkout. Real agents are not
 * dependencies of the project: they are large, and running Convoke does not need them.
 */
export async function installedAgent(wanted: AgentPackage): Promise<string> {
  const { name, version } = wanted;
  const place = `${name.replaceAll(/[@/]+/g, '-')}-${version}-${process.platform}-${process.arch}`;
  const home = join(cache, place.replace(/^-/, ''));
  if (!existsSync(home)) await fetchInto(home, wanted);
  return join(home, 'node_modules');
}

/** Installs into a temporary folder and renames it, so that two installs cannot collide. */
async function fetchInto(home: string, { name, version, integrity }: AgentPackage): Promise<void> {
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, 'fetch-'));
  try {
    const dependencies = { [name]: version };
    await writeFile(join(temporary, 'package.json'), JSON.stringify({ dependencies }));
    const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    const lock = JSON.stringify({ lockfileVersion: 3, packages });
    if (integrity !== undefined) await writeFile(join(temporary, 'package-lock.json'), lock);
    const command = integrity === undefined ? 'install' : 'ci';
    const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', [command, ...options], { cwd: temporary });
    // Agents run as another user, who must be able to read the files.
    await chmod(temporary, 0o755);
    await rename(temporary, home);
  } catch (cause) {
    if (existsSync(home)) return;
    throw new Error(`could not fetch ${name}@${version} from npm`, { cause });
  } finally {
    await removeFolder(temporary);
  }
}
