import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../test/remove-folder.ts';
import { sliceWithBackends } from './cluster/backends.ts';
import { Service } from './cluster/service.ts';
import { LoadProcess } from './load-process.ts';
import type { Figures, Scale, Scenario } from './scenario.ts';
import { type Server, startServer } from './server.ts';

interface Turns {
  readonly scale: Scale;
  readonly rounds: number;
  readonly database: 'sqlite' | 'postgres';
}

/** What one server is asked to do. */
export interface Measurement {
  readonly scenario: Scenario;
  /** The folder of a checkout with its own dependencies; undefined is the reference. */
  readonly checkout: string | undefined;
}

export interface Comparison extends Turns {
  readonly scenario: Scenario;
  readonly checkouts: readonly string[];
}

interface MeasuredCheckout extends AsyncDisposable, Measurement {
  readonly server: Server;
  readonly databaseUrl?: string;
}

/** The slices of each checkout's server, then those of the reference. */
export function measureCheckouts({
  scenario,
  checkouts,
  ...turns
}: Comparison): Promise<Figures[][]> {
  const all = [...checkouts, undefined];
  return measureInTurn(
    all.map((checkout) => ({ scenario, checkout })),
    turns,
  );
}

/**
 * The slices of each server, of the same scenario or another: one of each in every round, after a round that warms up,
 * so that what disturbs the machine disturbs all of them.
 */
export async function measureInTurn(
  measurements: readonly Measurement[],
  turns: Turns,
): Promise<Figures[][]> {
  await using stack = new AsyncDisposableStack();
  const measured: MeasuredCheckout[] = [];
  for (const measurement of measurements) measured.push(stack.use(await start(measurement, turns)));
  const load = stack.adopt(new LoadProcess(), (process) => process.stop());
  const slices = measured.map((): Figures[] => []);
  for (let round = 0; round <= turns.rounds; round += 1) {
    for (const [index, one] of inTurn([...measured.entries()], round)) {
      const figures = await slice(load, one, turns.scale);
      if (round > 0) slices[index]?.push(figures);
    }
  }
  return slices;
}

/** Every round begins with another one, so that none always follows the same. */
export function inTurn<T>(all: readonly T[], round: number): T[] {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

/** A server of the checkout, or the reference without one. */
async function start(
  measurement: Measurement,
  { scale, database }: Turns,
): Promise<MeasuredCheckout> {
  const { scenario, checkout } = measurement;
  const agents = scenario.agents(scale);
  const program = checkout === undefined ? undefined : join(checkout, 'packages/cli/src/main.ts');
  const own = program === undefined ? undefined : ({ name: 'convoke', program } as const);
  if (database === 'postgres') {
    const one = { roles: ['api,worker'], wakeups: 'postgres', agents } as const;
    const service = await Service.start({ ...one, ...(own ?? { name: 'ref:postgres' }) });
    const { server, databaseUrl } = service;
    const stop = () => service[Symbol.asyncDispose]();
    return { ...measurement, server, databaseUrl, [Symbol.asyncDispose]: stop };
  }
  const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
  const server = await startServer({ folder, agents, ...(own ?? { name: 'ref:sqlite' }) });
  return {
    ...measurement,
    server,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await removeFolder(folder);
    },
  };
}

function slice(
  load: LoadProcess,
  { server, databaseUrl, scenario }: MeasuredCheckout,
  scale: Scale,
): Promise<Figures> {
  return databaseUrl === undefined
    ? load.slice(scenario, server, scale)
    : sliceWithBackends(load, { server, databaseUrl }, { scenario, scale });
}
