import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../test/remove-folder.ts';
import { sliceWithBackends } from './cluster/backends.ts';
import { Service } from './cluster/service.ts';
import { LoadProcess } from './load-process.ts';
import type { Figures, Scale, Scenario } from './scenario.ts';
import { type Server, startServer } from './server.ts';

export interface Comparison {
  readonly scenario: Scenario;
  readonly scale: Scale;
  readonly rounds: number;
  readonly database: 'sqlite' | 'postgres';
  /** Folders of checkouts, each with its own dependencies. */
  readonly checkouts: readonly string[];
}

interface Measured extends AsyncDisposable {
  readonly server: Server;
  readonly databaseUrl?: string;
}

/**
 * The slices of each checkout's server, then those of the reference: one of each in every round, after a round that
 * warms up, so that what disturbs the machine disturbs all of them.
 */
export async function measureCheckouts(comparison: Comparison): Promise<Figures[][]> {
  const programs = comparison.checkouts.map((path) => join(path, 'packages/cli/src/main.ts'));
  await using stack = new AsyncDisposableStack();
  const measured: Measured[] = [];
  for (const program of [...programs, undefined]) {
    measured.push(stack.use(await start(comparison, program)));
  }
  const load = stack.adopt(new LoadProcess(), (process) => process.stop());
  const slices = measured.map((): Figures[] => []);
  for (let round = 0; round <= comparison.rounds; round += 1) {
    for (const [index, one] of measured.entries()) {
      const figures = await slice(load, one, comparison);
      if (round > 0) slices[index]?.push(figures);
    }
  }
  return slices;
}

/** A server of the program, or the reference without one. */
async function start(
  { scenario, scale, database }: Comparison,
  program: string | undefined,
): Promise<Measured> {
  const agents = scenario.agents(scale);
  const own = program === undefined ? undefined : ({ name: 'convoke', program } as const);
  if (database === 'postgres') {
    const one = { roles: ['api,worker'], wakeups: 'postgres', agents } as const;
    return Service.start({ ...one, ...(own ?? { name: 'ref:postgres' }) });
  }
  const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
  const server = await startServer({ folder, agents, ...(own ?? { name: 'ref:sqlite' }) });
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await removeFolder(folder);
    },
  };
}

function slice(
  load: LoadProcess,
  { server, databaseUrl }: Measured,
  { scenario, scale }: Comparison,
): Promise<Figures> {
  return databaseUrl === undefined
    ? load.slice(scenario, server, scale)
    : sliceWithBackends(load, { server, databaseUrl }, { scenario, scale });
}
