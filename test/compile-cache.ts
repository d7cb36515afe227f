// The tests start hundreds of Node processes. With a compile cache only the first of them compiles the server's
// modules; the others start in half the time.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { programPath } from './bundled-programs.ts';
import { root } from './repository.ts';

/** For processes that do not inherit the environment of the tests. */
export const compileCache = { NODE_COMPILE_CACHE: join(root, '.cache/compiled') } as const;

/**
 * Run by vitest before any test file. Workers inherit the variable. Node writes the cache when a process exits, which
 * a server that a test kills never does, so one process loads the whole server and exits because of a wrong setting.
 */
export function setup(): void {
  Object.assign(process.env, compileCache);
  const serve = [programPath('convoke'), 'serve'];
  const env = { PATH: process.env['PATH'], ...compileCache, CONVOKE_PORT: 'none' };
  // Not awaited: the tests are correct with a cold cache too.
  execFile(process.execPath, serve, { env }, () => undefined);
}
