import { readFileSync, readdirSync } from 'node:fs';

/** The process and everything it started, directly or not, that is alive now. */
export function processTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = statOf(pid);
    if (stat !== undefined) parents.set(pid, stat.parent);
  }
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  }
  return tree.filter(isAlive);
}

/**
 * The command of a process that the kernel kills when this one dies, also if it is suspended: a test that is
 * interrupted leaves nothing running. The process id is that of the program itself.
 */
export function endingWithThis(program: string, words: readonly string[]): [string, string[]] {
  return ['setpriv', ['--pdeathsig', 'KILL', program, ...words]];
}

/** A zombie is dead: it only waits for its parent to read the exit code, which may never happen here. */
export function isAlive(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    // The name in parentheses may hold anything, so what follows its end is read.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = 'X', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
