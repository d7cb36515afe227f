import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillHistory } from './history.ts';
import { LoadProcess } from './load-process.ts';
import type { Figures, Scale, Scenario, TargetName } from './scenario.ts';
import { type Server, startServer } from './server.ts';
import { removeFolder } from '../test/remove-folder.ts';

export interface MeasureOptions {
  readonly scale: Scale;
  readonly rounds: number;
  readonly report: (line: string) => void;
  /** Where to put a processor profile of every scenario's last round. */
  readonly profiles?: string;
  /** The `bin/convoke.mjs` of this checkout and of an installed Convoke, whose starts are measured. */
  readonly programs?: { readonly checkout: string; readonly packed?: string | undefined };
}

/** The figures of each target's slices, in the order they were taken. */
export type Slices = ReadonlyMap<TargetName, readonly Figures[]>;

const storedEvents = { full: 1_000_000, quick: 200_000, smoke: 1_000 };

/**
 * Takes every scenario's slices in rounds, each round one slice of each target in turn, so that whatever else
 * the machine does hits all of them alike. A first round warms up and is thrown away.
 */
export async function measure(
  scenarios: readonly Scenario[],
  options: MeasureOptions,
): Promise<Map<string, Slices>> {
  await using bench = await Bench.open(scenarios, options);
  const results = new Map<string, Slices>();
  for (const scenario of scenarios) {
    options.report(scenario.id);
    results.set(scenario.id, await bench.take(scenario));
  }
  return results;
}

/** How long each server takes from its start until it is ready, the first time and again, and what it holds at rest. */
export async function measureBoot(options: MeasureOptions): Promise<Slices> {
  options.report('boot');
  const { checkout, packed } = options.programs ?? {};
  const slices = new Map<TargetName, Figures[]>();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const name of ['convoke', 'ref:sqlite', 'ref:mem'] as const) {
      const own = await bootOf(name, options.scale, name === 'convoke' ? checkout : undefined);
      const { first, again, rss } =
        packed === undefined || name !== 'convoke'
          ? own
          : await bootOf(name, options.scale, packed);
      const figures = { ...own, packedFirst: first, packedAgain: again, packedRss: rss };
      slices.set(name, [...(slices.get(name) ?? []), figures]);
    }
  }
  return slices;
}

async function bootOf(
  name: TargetName,
  scale: Scale,
  program: string | undefined,
): Promise<{ readonly first: number; readonly again: number; readonly rss: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
  const what = { name, folder, agents: [], ...(program !== undefined && { program }) };
  const first = await startServer(what);
  await first.stop('SIGTERM');
  const again = await startServer(what);
  await new Promise((resolve) => setTimeout(resolve, scale === 'smoke' ? 0 : restMs));
  const { rssBytes } = await again.usage('usage');
  await again.stop();
  await removeFolder(folder);
  return { first: first.bootMs, again: again.bootMs, rss: rssBytes / 1024 / 1024 };
}

/** Longer than a server has to be at rest before it returns memory. */
const restMs = 12_000;

class Bench {
  readonly #options: MeasureOptions;
  readonly #scenarios: readonly Scenario[];
  readonly #folder: string;
  readonly #load = new LoadProcess();
  readonly #servers = new Map<TargetName, Server>();
  #made = 0;

  private constructor(
    scenarios: readonly Scenario[],
    { options, folder }: { options: MeasureOptions; folder: string },
  ) {
    this.#scenarios = scenarios;
    this.#options = options;
    this.#folder = folder;
  }

  static async open(scenarios: readonly Scenario[], options: MeasureOptions): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
    return new Bench(scenarios, { options, folder });
  }

  async take(scenario: Scenario): Promise<Slices> {
    const { rounds, scale } = this.#options;
    const slices = new Map<TargetName, Figures[]>(scenario.targets.map((name) => [name, []]));
    const warmUps = scale === 'smoke' || scenario.fresh === true ? 0 : 1;
    for (let round = 0; round < warmUps + rounds; round += 1) {
      for (const [name, figures] of slices) {
        const slice = await this.#slice(scenario, name, round === warmUps + rounds - 1);
        if (round >= warmUps) figures.push(slice);
      }
    }
    return slices;
  }

  async #slice(scenario: Scenario, name: TargetName, isLast: boolean): Promise<Figures> {
    const { scale, profiles } = this.#options;
    const server = scenario.fresh === true ? await this.#start(name) : await this.#running(name);
    const isProfiled = profiles !== undefined && isLast;
    if (isProfiled) await server.profile();
    const figures = await this.#load.slice(scenario, server, scale);
    if (isProfiled) {
      await server.saveProfile(
        join(profiles, `${scenario.id}-${name.replaceAll(/\W+/g, '-')}.cpuprofile`),
      );
    }
    if (scenario.fresh === true) await server.stop();
    return figures;
  }

  async #running(name: TargetName): Promise<Server> {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const server = await this.#start(name);
    this.#servers.set(name, server);
    return server;
  }

  async #start(name: TargetName): Promise<Server> {
    const { scale, report } = this.#options;
    const folder = join(this.#folder, String((this.#made += 1)));
    const agents = this.#scenarios.flatMap((scenario) => scenario.agents(scale));
    const server = await startServer({ name, folder, agents });
    if (name !== 'convoke, old') return server;
    await server.stop();
    report(`storing ${storedEvents[scale].toLocaleString('en')} events`);
    fillHistory(join(folder, 'data'), storedEvents[scale]);
    return startServer({ name, folder, agents });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load.stop();
    await Promise.all(Array.from(this.#servers.values(), (server) => server.stop()));
    await removeFolder(this.#folder);
  }
}
