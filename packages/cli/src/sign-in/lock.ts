import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../failure.ts';

/** Longer than a holder needs at most: two requests that time out. */
const timeoutMs = 60_000;
const pollMs = 25;

/**
 * Runs work under a lock that excludes other processes of this user. The lock is a file that only one process can
 * create; it names its holder, so that the lock of a process that was killed is removed. SQLite has better locks, but
 * Node 20 has no SQLite.
 */
export async function holding<T>(path: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  while (!(await tryLock(path))) {
    if (performance.now() > deadline) {
      const advice = 'try again, or delete that file if no convoke command is running';
      throw new Failure(`another convoke command has held ${path} for a minute; ${advice}`);
    }
    await pause(pollMs);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  // Written under another name first, so that a lock file always names its holder.
  const draft = `${path}.${process.pid}`;
  try {
    const holder: Holder = { host: hostname(), pid: process.pid };
    await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
    await link(draft, path);
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    await removeAbandoned(path);
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes the lock of a process that has ended. Several processes may notice it together, and a slow one may move the
 * new lock of a fast one: then it puts that back.
 */
async function removeAbandoned(path: string): Promise<void> {
  const aside = `${path}.${process.pid}.aside`;
  try {
    if (!isGone(await holderOf(path))) return;
    await rename(path, aside);
    if (!isGone(await holderOf(aside))) await link(aside, path);
  } catch (error) {
    if (!isCode(error, 'ENOENT') && !isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

interface Holder {
  readonly host: string;
  readonly pid: number;
}

async function holderOf(path: string): Promise<Holder> {
  return JSON.parse(await readFile(path, 'utf8')) as Holder;
}

/** Processes of another machine, which may share the folder, cannot be seen: their locks are left alone. */
function isGone({ host, pid }: Holder): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isCode(error, 'ESRCH');
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
