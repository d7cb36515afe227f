import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillHistory } from './history.ts';
import { LoadProcess } from './load-process.ts';
import type { Figures, Row, Scale, Scenario, TargetName } from './scenario.ts';
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

/**
 * What was measured. After a failed slice nothing counts: the rounds of the servers would not stand beside each other.
 */
export interface MeasuredSlices {
  readonly slices: Slices;
  /** Why a slice failed. */
  readonly failure?: string;
}

/** What a scenario gave, and the lines of the table that show it. */
export interface Section extends MeasuredSlices {
  readonly rows: readonly Row[];
}

const storedEvents = { full: 1_000_000, quick: 200_000, smoke: 1_000 };

/**
 * Takes every scenario's slices in rounds, each round one slice of each target in turn, so that whatever else
 * the machine does hits all of them alike. A first round warms up and is thrown away. A scenario that fails has no
 * figures, and the next one gets new servers.
 */
export async function measure(
  scenarios: readonly Scenario[],
  options: MeasureOptions,
): Promise<Map<string, Section>> {
  await using bench = await Bench.open(scenarios, options);
  const results = new Map<string, Section>();
  for (const scenario of scenarios) {
    options.report(scenario.id);
    const measured = await orFailure(scenario.id, () => bench.take(scenario));
    results.set(scenario.id, { rows: scenario.rows, ...measured });
    if (measured.failure === undefined) continue;
    options.report(`failed: ${measured.failure}`);
    await bench.stop();
  }
  return results;
}

async function orFailure(id: string, take: () => Promise<Slices>): Promise<MeasuredSlices> {
  try {
    return { slices: await take() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { slices: new Map(), failure: `${id}: ${reason}` };
  }
}

/** How long each server takes from its start until it is ready, the first time and again, and what it holds at rest. */
export function measureBoot(options: MeasureOptions): Promise<MeasuredSlices> {
  options.report('boot');
  return orFailure('boot', () => takeBoots(options));
}

async function takeBoots(options: MeasureOptions): Promise<Slices> {
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
  try {
    const first = await startServer(what);
    await first.stop('SIGTERM');
    await using again = await startServer(what);
    await new Promise((resolve) => setTimeout(resolve, scale === 'smoke' ? 0 : restMs));
    const { rssBytes } = await again.usage('usage');
    return { first: first.bootMs, again: again.bootMs, rss: rssBytes / 1024 / 1024 };
  } finally {
    await removeFolder(folder);
  }
}

/** Longer than a server has to be at rest before it returns memory. */
const restMs = 12_000;

class Bench {
  readonly #options: MeasureOptions;
  readonly #scenarios: readonly Scenario[];
  readonly #folder: string;
  #load: LoadProcess | undefined;
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
    if (scenario.fresh !== true) return this.#sliceOn(await this.#running(name), scenario, isLast);
    await using server = await this.#start(name);
    return await this.#sliceOn(server, scenario, isLast);
  }

  async #sliceOn(server: Server, scenario: Scenario, isLast: boolean): Promise<Figures> {
    const { scale, profiles } = this.#options;
    const isProfiled = profiles !== undefined && isLast;
    if (isProfiled) await server.profile();
    this.#load ??= new LoadProcess();
    const figures = await this.#load.slice(scenario, server, scale);
    if (isProfiled) {
      const target = server.name.replaceAll(/\W+/g, '-');
      await server.saveProfile(join(profiles, `${scenario.id}-${target}.cpuprofile`));
    }
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

  /** Ends the load and all servers; a scenario after it starts others. What a failed slice left is gone then. */
  async stop(): Promise<void> {
    await this.#load?.stop();
    this.#load = undefined;
    await Promise.all(Array.from(this.#servers.values(), (server) => server.stop()));
    this.#servers.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await removeFolder(this.#folder);
  }
}
