/**
 * `node bench/sleeping.ts [--runs 100000] [--rounds 40]`: what runs that sleep cost those that do not, on SQLite and on
 * PostgreSQL, without HTTP. Three databases of each: a new one, one with runs that sleep, and one with as many that
 * have ended, because a table that is larger costs something, too.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { copyRows } from '../packages/server/test/support/copied-rows.ts';
import type { DatabaseKind } from '../packages/server/test/support/databases.ts';
import {
  type RunFixture,
  createRunFixture,
  hour,
  over,
} from '../packages/server/test/support/run-fixture.ts';
import { cleanUpAfterFile } from '../test/runner/file-end.ts';
import { setup } from '../test/services.ts';
import { backendsCpuUs } from './cluster/backends.ts';

const { values } = parseArgs({ options: { runs: { type: 'string' }, rounds: { type: 'string' } } });
const others = Number(values.runs ?? 100_000);
const rounds = Number(values.rounds ?? 40);
/** Until V8 has compiled what a run needs. */
const warmUps = 10;
/** Of each step, in a round. */
const times = 100;
const steps = ['pass', 'look', 'start', 'claim', 'end'] as const;
const titles = {
  pass: 'a pass of the dispatcher that finds nothing',
  look: 'a look for waits that are due',
  start: 'a start',
  claim: 'a claim',
  end: 'an end',
};
const beside = ['none', 'sleeping', 'ended'] as const;

type Step = (typeof steps)[number];
type Beside = (typeof beside)[number];

const sleep = { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap' } as const;
const completed = { status: 'completed', outputText: 'Done.' } as const;

/** A database, and the processor time of each step on it, a figure for each round. */
class MeasuredDatabase {
  readonly #world: RunFixture;
  readonly us: Readonly<Record<Step, number[]>> = {
    pass: [],
    look: [],
    start: [],
    claim: [],
    end: [],
  };

  private constructor(world: RunFixture) {
    this.#world = world;
  }

  static async open(kind: DatabaseKind, what: Beside): Promise<MeasuredDatabase> {
    const world = await createRunFixture(kind, { framework: 'scripted' });
    world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
    if (what === 'none') return new MeasuredDatabase(world);
    const leg = await world.claimed(await world.start(await world.open()));
    const items = [{ ...sleep, due: { inMs: 10_000 * hour } }];
    const end = { status: 'waiting', ...over } as const;
    await world.record(leg, what === 'sleeping' ? { items, end } : { end: completed });
    // These ids sort before those of runs that start now.
    const [session_id, run_id, count] = ['a_session_', 'a_run_', others];
    const [session, run] = [
      { id: session_id, current_run_id: run_id },
      { id: run_id, session_id },
    ];
    await copyRows(world, { table: 'sessions', count, changed: session });
    await copyRows(world, { table: 'runs', count, changed: run });
    if (what === 'ended') return new MeasuredDatabase(world);
    const wait = { id: 'a_wait_', run_id, session_id };
    await copyRows(world, { table: 'waits', count, changed: wait });
    return new MeasuredDatabase(world);
  }

  async round(): Promise<void> {
    const world = this.#world;
    const sessions = await each(Array.from({ length: times }), () => world.open());
    const now = world.clock.now();
    const asked = { now, machine: 'machine-1', limit: 64, perTenant: 64, tenants: 64 };
    const bounds = { ...asked, after: undefined };
    await this.#step('pass', () => repeated(() => world.store.read.runs.claimable(bounds)));
    await this.#step('look', () => repeated(() => world.store.read.waits.due(now, times)));
    const runs = await this.#step('start', () => each(sessions, (id) => world.start(id)));
    const legs = await this.#step('claim', () => each(runs, (run) => world.claimed(run)));
    await this.#step('end', () => each(legs, (leg) => world.record(leg, { end: completed })));
  }

  forget(): void {
    for (const step of steps) this.us[step].length = 0;
  }

  async #step<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const { kind, location } = this.#world;
    const ofBackends = async () => (kind === 'sqlite' ? 0 : ((await backendsCpuUs(location)) ?? 0));
    const before = await ofBackends();
    const began = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(began);
    this.us[step].push((user + system + (await ofBackends()) - before) / times);
    return result;
  }
}

function each<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  return Promise.all(all.map(work));
}

async function repeated(work: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < times; time += 1) await work();
}

/** Of the quicker half of the rounds: other load only adds. */
function meanOf(us: readonly number[]): number {
  const half = us.toSorted((a, b) => a - b).slice(0, Math.ceil(us.length / 2));
  return half.reduce((sum, each) => sum + each, 0) / half.length;
}

const stop = await setup();
const lines = [
  '',
  `beside ${others} runs, ${rounds} rounds; load average ${(loadavg()[0] ?? 0).toFixed(1)} before the start`,
  '',
  '| processor time, of PostgreSQL too | beside none | beside runs that sleep | beside runs that have ended |',
  '|---|---|---|---|',
];
for (const kind of ['sqlite', 'postgres'] as const) {
  const [none, sleeping, ended] = await Promise.all(
    beside.map((what) => MeasuredDatabase.open(kind, what)),
  );
  if (none === undefined || sleeping === undefined || ended === undefined) throw new Error(kind);
  const measured = [none, sleeping, ended];
  for (let round = -warmUps; round < rounds; round += 1) {
    if (round === 0) for (const one of measured) one.forget();
    // Not always the same one first.
    for (let turn = 0; turn < measured.length; turn += 1) {
      await measured[(round + warmUps + turn) % measured.length]?.round();
    }
  }
  for (const step of steps) {
    const base = meanOf(none.us[step]);
    const ratioOf = ({ us }: MeasuredDatabase) => `${(meanOf(us[step]) / base).toFixed(3)}x`;
    const cells = [`${base.toFixed(1)} µs`, ratioOf(sleeping), ratioOf(ended)];
    lines.push(`| ${titles[step]}, ${kind} | ${cells.join(' | ')} |`);
  }
}
process.stdout.write(`${lines.join('\n')}\n`);
await cleanUpAfterFile();
await stop?.();
