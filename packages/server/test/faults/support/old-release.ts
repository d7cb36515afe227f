// A release from before runs could be continued, out of the history of this repository.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../../test/repository.ts';

/** The last commit before migration 0006: it has neither `continue_at` nor the events of an interruption. */
const commit = '3c8150b';
const folder = join(root, '.cache/releases', commit);

/** False in a checkout without history: a source archive, a shallow clone. */
export const hasOldRelease = existsSync(folder) || isInHistory();

function isInHistory(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Unpacks it once. Returns the path of its command line; it uses the npm packages of this checkout. */
export function unpackOldRelease(): string {
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    mkdirSync(join(draft, 'node_modules/@convoke'), { recursive: true });
    const archive = execFileSync('git', ['archive', commit, 'packages'], {
      cwd: root,
      maxBuffer: 256 * 1024 * 1024,
    });
    execFileSync('tar', ['x', '-C', draft], { input: archive });
    for (const name of readdirSync(join(draft, 'packages'))) {
      symlinkSync(join('../../packages', name), join(draft, 'node_modules/@convoke', name));
    }
    renameSync(draft, folder);
  }
  return join(folder, 'packages/cli/src/main.ts');
}
