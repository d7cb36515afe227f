import { readFile, readdir, readlink } from 'node:fs/promises';
import { send } from './launch-streams.ts';

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
  const view = await viewOf(root);
  const before = await descendantsIn(view);
  if (before === undefined) return async () => 0;
  const known = new Set(before.map(({ id }) => id));
  const relays = new Set(before.filter(({ name }) => name === relay).map(({ pid }) => pid));
  return async () => {
    const now = await descendantsIn(view);
    // A list that can no longer be read may have anything: the caller must not rely on an idle program.
    if (now === undefined) return 1;
    return now.filter(({ id, parent }) => !known.has(id) && !relays.has(parent)).length;
  };
}

/** How often it is looked whether all processes of a program have stopped, and the pause between two looks. */
const looksMax = 1000;
const lookPauseMs = 2;

/**
 * Stops all descendants of a process, and resolves when each of their threads has stopped and none is new: a signal is
 * acted on a moment after it was sent. Returns their pids; undefined where they cannot be listed or do not stop, which
 * they do not notice. Signals reach a process also after it left its process group.
 */
export async function stopProcesses(root: number): Promise<readonly number[] | undefined> {
  const stopped = new Set<number>();
  for (let look = 0; look < looksMax; look += 1) {
    const pids = await childrenBelow(root);
    if (pids === undefined) return undefined;
    const found = pids.filter((pid) => !stopped.has(pid));
    for (const pid of found) {
      stopped.add(pid);
      send(pid, 'SIGSTOP');
    }
    if (found.length > 0) continue;
    if (stopped.size === 0) return undefined;
    if ((await Promise.all(Array.from(stopped, hasStopped))).every(Boolean)) return [...stopped];
    await new Promise((resolve) => setTimeout(resolve, lookPauseMs));
  }
  for (const pid of stopped) send(pid, 'SIGCONT');
  return undefined;
}

async function hasStopped(pid: number): Promise<boolean> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => []);
  const stats = await Promise.all(
    threads.map((thread) => readFile(`${folder}/${thread}/stat`, 'utf8').catch(() => '')),
  );
  // Behind the name: T is stopped; a thread without a line, and Z and X, have ended.
  return stats.every(
    (text) => text === '' || /^[TtZX]/.test(text.slice(text.lastIndexOf(')') + 2)),
  );
}

/** Pids as this process sees them, from the short lists of children where the kernel has them. */
async function childrenBelow(root: number): Promise<readonly number[] | undefined> {
  const found: number[] = [];
  const parents = [root];
  // The list grows during iteration.
  for (const parent of parents) {
    const threads = await readdir(`/proc/${parent}/task`).catch(() => []);
    const lists = await Promise.all(
      threads.map((thread) =>
        readFile(`/proc/${parent}/task/${thread}/children`, 'utf8').catch(() => undefined),
      ),
    );
    if (parent === root && lists.every((list) => list === undefined)) {
      const listed = await descendantsIn({ folder: '/proc', root });
      return listed?.map(({ pid }) => pid);
    }
    const children = lists.flatMap((list) => (list ?? '').split(' ').filter((pid) => pid !== ''));
    found.push(...children.map(Number));
    parents.push(...children.map(Number));
  }
  return found;
}

/** A list of processes, and the pid that the root has in it. */
interface View {
  readonly folder: string;
  readonly root: number;
}

/**
 * The /proc of the program's own pid namespace, where it can be read: it has the program's few processes, and that of
 * the server all of the machine (D-425).
 */
async function viewOf(root: number): Promise<View> {
  const own = `/proc/${root}/root/proc`;
  const paths = [`/proc/${root}/ns/pid`, '/proc/self/ns/pid', `${own}/1/ns/pid`];
  const [namespace, ofServer, ofFirst] = await Promise.all(
    paths.map((path) => readlink(path).catch(() => undefined)),
  );
  const isOwn = namespace !== undefined && namespace !== ofServer && namespace === ofFirst;
  return isOwn ? { folder: own, root: 1 } : { folder: '/proc', root };
}

async function descendantsIn({ folder, root }: View): Promise<ListedProcess[] | undefined> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return undefined;
  const pids = names.map(Number).filter(Number.isInteger);
  const running = await Promise.all(pids.map((pid) => statOf(folder, pid)));
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
async function statOf(folder: string, pid: number): Promise<ListedProcess | undefined> {
  const text = await readFile(`${folder}/${pid}/stat`, 'utf8').catch(() => undefined);
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
