// The programs of the system that tests run.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A sandbox shows programs only what is below /usr, so that is where they have to be. */
export function missingPrograms(names: readonly string[]): string[] {
  const folders = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/bin', '/sbin'];
  return names.filter((name) => !folders.some((at) => existsSync(join(at, name))));
}

/** Installs Debian's packages if one of the programs is missing and this process can: as root, on a system with apt. */
export function installMissing(programs: readonly string[], packages: readonly string[]): void {
  if (missingPrograms(programs).length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) => execFileSync('apt-get', args, { env, stdio: 'pipe' });
  try {
    apt('install', '-y', '--no-install-recommends', ...packages);
  } catch {
    // A machine that was never asked for a package has no list of them yet.
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...packages);
  }
}
