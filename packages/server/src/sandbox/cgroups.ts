import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessLimits } from '../ports/sandbox.ts';
import { mountedCgroups } from './cgroup-mounts.ts';

/**
 * Memory and process limits for a whole tree of processes, kept by the kernel. Everything here is
 * synchronous: the files are the kernel's, no disk is behind them, and a program must be in its group
 * before it goes on.
 */
export interface Cgroups {
  readonly kind: 'cgroup v2' | 'cgroup v1';
  make(limits: ProcessLimits): Cgroup;
}

export interface Cgroup {
  add(pid: number): void;
  /** Whether the kernel ended something in it for want of memory. */
  ranOutOfMemory(): boolean;
  /** Ends whatever is still in it, and removes it. */
  remove(): Promise<void>;
}

/** The programs around the agent's own: they count as well. */
const pidsOfOurs = 8;
const removalTries = 50;
const removalPauseMs = 10;

/**
 * `undefined` where this process may not make groups that limit memory and processes. A group is made where the
 * server's own is, below whatever limits it, and only for as long as its program runs.
 */
export function openCgroups(): Cgroups | undefined {
  const { unified, memory, pids } = mountedCgroups();
  for (const base of unified) {
    sweep(base);
    attempt(() => writeFileSync(join(base, 'cgroup.subtree_control'), '+memory +pids'));
    if (holds('cgroup v2', [base])) return cgroupsIn('cgroup v2', [base]);
  }
  if (memory === undefined || pids === undefined) return undefined;
  for (const base of [memory, pids]) sweep(base);
  return holds('cgroup v1', [memory, pids]) ? cgroupsIn('cgroup v1', [memory, pids]) : undefined;
}

/** Whether a group can be made there, with every limit that matters. */
function holds(kind: Cgroups['kind'], bases: readonly string[]): boolean {
  const places = placesIn(bases);
  const isMade = attempt(() => {
    for (const place of places) mkdirSync(place);
    const files = new Set(places.flatMap(list));
    const memory = kind === 'cgroup v2' ? 'memory.max' : 'memory.limit_in_bytes';
    if (!files.has(memory) || !files.has('pids.max')) throw new Error('no controller');
  });
  for (const place of places) attempt(() => rmdirSync(place));
  return isMade;
}

/** Named after this process, so that whoever finds it can tell whether it is still somebody's. */
function placesIn(bases: readonly string[]): readonly string[] {
  const name = `convoke-${process.pid}-${randomBytes(6).toString('hex')}`;
  return bases.map((base) => join(base, name));
}

/** A server that was killed could not remove its groups: those of processes that are gone are nobody's. */
function sweep(base: string): void {
  for (const name of list(base)) {
    const owner = /^convoke-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || attempt(() => process.kill(Number(owner), 0))) continue;
    strike(join(base, name));
    attempt(() => rmdirSync(join(base, name)));
  }
}

function cgroupsIn(kind: Cgroups['kind'], bases: readonly string[]): Cgroups {
  return {
    kind,
    make(limits) {
      const places = placesIn(bases);
      for (const place of places) mkdirSync(place);
      for (const [file, value] of settingsFor(kind, limits)) {
        // A controller lies in one of the places, and so do its files; some kernels lack those for swap.
        const place = places.find((at) => list(at).includes(file));
        if (place !== undefined) writeFileSync(join(place, file), value);
      }
      return cgroupAt(places);
    },
  };
}

function settingsFor(kind: Cgroups['kind'], limits: ProcessLimits): readonly [string, string][] {
  const bytes = String(limits.memoryMb * 1024 * 1024);
  const pids = String(limits.pids + pidsOfOurs);
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

function cgroupAt(places: readonly string[]): Cgroup {
  return {
    add(pid) {
      for (const place of places) writeFileSync(join(place, 'cgroup.procs'), String(pid));
    },
    ranOutOfMemory: () =>
      places.some((place) =>
        ['memory.events', 'memory.oom_control'].some((file) =>
          /^oom_kill [1-9]/m.test(read(join(place, file))),
        ),
      ),
    async remove() {
      for (const place of places) {
        for (let tries = 0; tries < removalTries; tries += 1) {
          strike(place);
          if (attempt(() => rmdirSync(place))) break;
          // What was killed leaves its group only when it is gone.
          await new Promise((resolve) => setTimeout(resolve, removalPauseMs));
        }
      }
    },
  };
}

function strike(place: string): void {
  if (attempt(() => writeFileSync(join(place, 'cgroup.kill'), '1'))) return;
  for (const pid of read(join(place, 'cgroup.procs')).split('\n')) {
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
