import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessLimits } from '../ports/sandbox.ts';
import { mountedCgroups } from './cgroup-mounts.ts';

/**
 * Memory and process limits for a whole tree of processes, enforced by the kernel. Calls are synchronous: the files are
 * the kernel's, without a disk behind them, and a program must be in its group before it continues.
 */
export interface Cgroups {
  readonly kind: 'cgroup v2' | 'cgroup v1';
  make(limits: ProcessLimits): Cgroup;
}

export interface Cgroup {
  add(pid: number): void;
  /** Whether the kernel killed a process of the group because it ran out of memory. */
  ranOutOfMemory(): boolean;
  /** Kills all processes of the group and removes it. */
  remove(): Promise<void>;
}

/** Processes of the launch chain and the watcher, which count towards the limit. */
const chainPids = 9;
const removalTries = 50;
const removalPauseMs = 10;

/**
 * `undefined` where this process may not make groups that limit memory and processes. Groups are made below the
 * server's own group, so its limits apply too, and exist only while their program runs.
 */
export function openCgroups(): Cgroups | undefined {
  const { unified, memory, pids } = mountedCgroups();
  for (const base of unified) {
    removeStaleGroups(base);
    attempt(() => writeFileSync(join(base, 'cgroup.subtree_control'), '+memory +pids'));
    if (isUsable('cgroup v2', [base])) return cgroupsIn('cgroup v2', [base]);
  }
  if (memory === undefined || pids === undefined) return undefined;
  for (const base of [memory, pids]) removeStaleGroups(base);
  return isUsable('cgroup v1', [memory, pids]) ? cgroupsIn('cgroup v1', [memory, pids]) : undefined;
}

/** Whether a group with both limits can be made there. */
function isUsable(kind: Cgroups['kind'], bases: readonly string[]): boolean {
  const paths = newGroupPaths(bases);
  const isMade = attempt(() => {
    for (const path of paths) mkdirSync(path);
    const files = new Set(paths.flatMap(list));
    const memory = kind === 'cgroup v2' ? 'memory.max' : 'memory.limit_in_bytes';
    if (!files.has(memory) || !files.has('pids.max')) throw new Error('no controller');
  });
  for (const path of paths) attempt(() => rmdirSync(path));
  return isMade;
}

/** Names contain the id of this process, so that `removeStaleGroups` knows whether their server still runs. */
function newGroupPaths(bases: readonly string[]): readonly string[] {
  const name = `convoke-${process.pid}-${randomBytes(6).toString('hex')}`;
  return bases.map((base) => join(base, name));
}

/** Removes the groups of servers that were killed before they could remove them. */
function removeStaleGroups(base: string): void {
  for (const name of list(base)) {
    const owner = /^convoke-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || attempt(() => process.kill(Number(owner), 0))) continue;
    killAll(join(base, name));
    attempt(() => rmdirSync(join(base, name)));
  }
}

function cgroupsIn(kind: Cgroups['kind'], bases: readonly string[]): Cgroups {
  return {
    kind,
    make(limits) {
      const paths = newGroupPaths(bases);
      for (const path of paths) mkdirSync(path);
      for (const [file, value] of settingsFor(kind, limits)) {
        // In v1 each controller has its own folder; some kernels have no files for swap.
        const path = paths.find((at) => list(at).includes(file));
        if (path !== undefined) writeFileSync(join(path, file), value);
      }
      return cgroupOf(paths);
    },
  };
}

function settingsFor(kind: Cgroups['kind'], limits: ProcessLimits): readonly [string, string][] {
  const bytes = String(limits.memoryMb * 1024 * 1024);
  const pids = String(limits.pids + chainPids);
  if (kind === 'cgroup v2') {
    return [
      ['memory.max', bytes],
      ['memory.swap.max', '0'],
      ['memory.oom.group', '1'],
      ['pids.max', pids],
    ];
  }
  return [
    ['memory.limit_in_bytes', bytes],
    ['memory.memsw.limit_in_bytes', bytes],
    ['pids.max', pids],
  ];
}

function cgroupOf(paths: readonly string[]): Cgroup {
  return {
    add(pid) {
      for (const path of paths) writeFileSync(join(path, 'cgroup.procs'), String(pid));
    },
    ranOutOfMemory: () =>
      paths.some((path) =>
        ['memory.events', 'memory.oom_control'].some((file) =>
          /^oom_kill [1-9]/m.test(read(join(path, file))),
        ),
      ),
    async remove() {
      for (const path of paths) {
        for (let tries = 0; tries < removalTries; tries += 1) {
          killAll(path);
          if (attempt(() => rmdirSync(path))) break;
          // A killed process stays in its group until it has exited.
          await new Promise((resolve) => setTimeout(resolve, removalPauseMs));
        }
      }
    },
  };
}

function killAll(path: string): void {
  if (attempt(() => writeFileSync(join(path, 'cgroup.kill'), '1'))) return;
  for (const pid of read(join(path, 'cgroup.procs')).split('\n')) {
    if (pid !== '') attempt(() => process.kill(Number(pid), 'SIGKILL'));
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
