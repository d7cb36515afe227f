import { readFile, readdir } from 'node:fs/promises';

/** Relay to the proxy, which forks a process for each connection: these are not the program's. */
const relay = 'socat';

interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Pid and start time: pids alone are reused. */
  readonly id: string;
}

/**
 * Records all descendants of a process. The returned function counts those that were started since and still run;
 * 0 where there is no /proc.
 */
export async function markProcesses(root: number): Promise<() => Promise<number>> {
  const before = await descendantsOf(root);
  const known = new Set(before.map(({ id }) => id));
  const relays = new Set(before.filter(({ name }) => name === relay).map(({ pid }) => pid));
  return async () => {
    const now = await descendantsOf(root);
    return now.filter(({ id, parent }) => !known.has(id) && !relays.has(parent)).length;
  };
}

async function descendantsOf(root: number): Promise<readonly ListedProcess[]> {
  const names = await readdir('/proc').catch(() => []);
  const running = await Promise.all(names.map(Number).filter(Number.isInteger).map(statOf));
  const childrenOf = Map.groupBy(running, (each) => each?.parent);
  const found: ListedProcess[] = [];
  const parents = [root];
  // The list grows during iteration.
  for (const parent of parents) {
    for (const child of childrenOf.get(parent) ?? []) {
      if (child === undefined) continue;
      found.push(child);
      parents.push(child.pid);
    }
  }
  return found;
}

/** `undefined` for a process that has ended, also for a zombie. */
async function statOf(pid: number): Promise<ListedProcess | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name in parentheses may contain anything, so fields are read after the last parenthesis.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const [state, parent] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  const name = text.slice(text.indexOf('(') + 1, end);
  return { pid, parent: Number(parent), name, id: `${pid} ${fields[startTime]}` };
}

/** Index of the start time, field 22 of the line, counted from the state, field 3. */
const startTime = 22 - 3;
