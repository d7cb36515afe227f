import { readFileSync } from 'node:fs';
import type { LoadProcess } from '../load-process.ts';
import type { Figures, Scale, Scenario } from '../scenario.ts';
import type { Server } from '../server.ts';
import { query } from '../../packages/server/test/support/postgres-databases.ts';

/** Clock ticks of Linux are a hundredth of a second on every platform that Node runs on. */
const tickUs = 10_000;
const userTimeField = 11;

/** One slice, and the processor time of the backends for each of its runs; those of its warm-up count as well. */
export async function sliceWithBackends(
  load: LoadProcess,
  { server, databaseUrl }: { readonly server: Server; readonly databaseUrl: string },
  { scenario, scale }: { readonly scenario: Scenario; readonly scale: Scale },
): Promise<Figures> {
  const before = await backendsCpuUs(databaseUrl);
  const figures = await load.slice(scenario, server, scale);
  const after = await backendsCpuUs(databaseUrl);
  if (before === undefined || after === undefined) return figures;
  const runs = (figures['operations'] ?? 0) + (figures['warmUps'] ?? 0);
  return { ...figures, backendsUs: (after - before) / runs };
}

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
