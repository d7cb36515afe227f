import { readFile, readdir } from 'node:fs/promises';

/** What is always there: the way to the proxy, which makes a process of its own for each connection. */
const relay = 'socat';

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Numbers are used again; with the time of its start it is one process and no other. */
  readonly id: string;
}

/**
 * Remembers what runs below a process, directly or not. What it gives counts the ones that were started since and
 * still run. None, where the kernel does not tell.
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

async function descendantsOf(root: number): Promise<readonly Listed[]> {
  const names = await readdir('/proc').catch(() => []);
  const running = await Promise.all(names.map(Number).filter(Number.isInteger).map(statOf));
  const childrenOf = Map.groupBy(running, (each) => each?.parent);
  const found: Listed[] = [];
  const parents = [root];
  // The list grows while it is walked.
  for (const parent of parents) {
    for (const child of childrenOf.get(parent) ?? []) {
      if (child === undefined) continue;
      found.push(child);
      parents.push(child.pid);
    }
  }
  return found;
}

/** `undefined` for one that is gone, or dead and only not yet buried. */
async function statOf(pid: number): Promise<Listed | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name in parentheses may hold anything, so what follows its end is read.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const [state, parent] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  const name = text.slice(text.indexOf('(') + 1, end);
  return { pid, parent: Number(parent), name, id: `${pid} ${fields[startTime]}` };
}

/** Counted from the state, which is the third field of the line. */
const startTime = 22 - 3;
