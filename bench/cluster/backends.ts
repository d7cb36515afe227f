import { readFileSync } from 'node:fs';
import { query } from '../../packages/server/test/support/postgres-databases.ts';

/** Clock ticks of Linux are a hundredth of a second on every platform that Node runs on. */
const tickUs = 10_000;
const userTimeField = 11;

/**
 * Processor time of the PostgreSQL processes that serve a database, since their start, in microseconds. Undefined where
 * they are on another machine, or `/proc` does not exist.
 */
export async function backendsCpuUs(url: string): Promise<number | undefined> {
  const database = new URL(url).pathname.slice(1);
  const rows = await query(
    url,
    `select pid from pg_stat_activity where datname = '${database}' and pid <> pg_backend_pid()`,
  );
  let sum = 0;
  for (const { pid } of rows as { pid: number }[]) {
    const used = cpuUsOf(pid);
    if (used === undefined) return undefined;
    sum += used;
  }
  return sum;
}

function cpuUsOf(pid: number): number | undefined {
  try {
    // The name of the program is in parentheses and may contain spaces.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
    const [user, system] = fields.split(' ').slice(userTimeField).map(Number);
    return ((user ?? 0) + (system ?? 0)) * tickUs;
  } catch {
    return undefined;
  }
}
