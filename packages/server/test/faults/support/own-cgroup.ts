import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountedCgroups } from '../../../src/sandbox/cgroup-mounts.ts';

/**
 * Paths of control groups for the servers of one test, named by the test. Each server that starts sweeps the groups of
 * dead servers beside its own; elsewhere than in groups of its own, a test could not tell what its servers do from what
 * the servers of other tests do for them.
 */
function cgroupPaths(name: string): readonly string[] {
  const { unified, memory, pids } = mountedCgroups();
  // Two levels: in v2, a group with processes in it cannot limit its children, but its parent can.
  return [unified[0], memory, pids].flatMap((path) =>
    path === undefined ? [] : [join(path, name, 'servers')],
  );
}

/** Moves this process. */
export function enterCgroups(name: string): void {
  for (const path of cgroupPaths(name)) {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'cgroup.procs'), String(process.pid));
  }
}

/** The groups that a server made for programs and did not remove. */
export function groupsLeft(name: string, pid: number): readonly string[] {
  return cgroupPaths(name)
    .flatMap((path) => [path, join(path, '..')])
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).filter((each) => each.startsWith(`convoke-${pid}-`)));
}

/** Removes the groups, once their servers have ended. */
export function removeCgroups(name: string): void {
  for (const path of cgroupPaths(name)) {
    for (const folder of [path, join(path, '..')]) if (existsSync(folder)) rmdirSync(folder);
  }
}
