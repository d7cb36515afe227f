import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The servers share one core and the load generator has the other, so that neither slows the other down. */
export const serverCore = 0;
export const loadCore = 1;

export const canPin =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The command, kept on one core where the machine can do that. */
export function pinned(
  core: number,
  [program, ...args]: readonly [string, ...string[]],
): [string, ...string[]] {
  return canPin ? ['taskset', '-c', String(core), program, ...args] : [program, ...args];
}
