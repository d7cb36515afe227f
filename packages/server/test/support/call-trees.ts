import { deepEqual } from 'node:assert/strict';
import type { ClientId } from '@convoke/contract';
import { type Agent as Program, agent as programOf } from '@convoke/agent';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import { cancelCalledRuns } from '../../src/workers/cancel-called-runs.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { inProcessHarness } from '../harness/code/in-process.ts';
import { agentOf, readBy } from './agent-folders.ts';
import { treeOf } from './calling-runs.ts';
import type { DatabaseKind } from './databases.ts';
import { Death, type Moment, MortalLegs } from './mortal-legs.ts';
import { hour } from './run-fixture.ts';

/** What one run of a tree does: it calls others at the same time, and says its word with their answers. */
export interface Branch {
  readonly word: string;
  readonly calls?: readonly (Branch & { readonly agent: string })[];
  /** Sleeps an hour, after its calls. */
  readonly naps?: boolean;
  readonly fails?: boolean;
}

/** The prompt of every run says what it does, so one program is all agents. */
function program(): Program {
  return programOf(async (ctx) => {
    const { word, calls = [], naps = false, fails = false } = JSON.parse(ctx.prompt) as Branch;
    const answers = await Promise.all(
      calls.map(async ({ agent, ...branch }) => {
        const called = await ctx.call(agent, { prompt: JSON.stringify(branch) });
        return called.ok ? called.text : called.code;
      }),
    );
    if (naps) await ctx.sleep('nap', '1h');
    if (fails) throw new Error('It is broken.');
    return said(word, answers);
  });
}

function said(word: string, answers: readonly string[]): string {
  return answers.length === 0 ? word : `${word}(${answers.join(' ')})`;
}

/** The answer of a run that nothing has disturbed. */
export function wholeOf({ word, calls = [] }: Branch): string {
  const answers = calls.map((each) => (each.fails === true ? 'agent_error' : wholeOf(each)));
  return said(word, answers);
}

export function sizeOf({ calls = [] }: Branch): number {
  return calls.reduce((sum, each) => sum + sizeOf(each), 1);
}

const names = ['agent', 'researcher', 'critic', 'editor', 'clerk'];
const terminal = new Set(['run_completed', 'run_cancelled', 'error']);
/** More than a tree of a test needs, with what is lost on the way. */
const turnsMax = 200;

/** Trees of runs that call each other, whose legs and passes are executed by workers that die. */
export class CallTrees {
  readonly legs: MortalLegs;
  readonly #client: ClientId;

  constructor(legs: MortalLegs, client: ClientId) {
    this.legs = legs;
    this.#client = client;
  }

  static async open(kind: DatabaseKind): Promise<CallTrees> {
    const harness = inProcessHarness(program);
    const recovery = { ...agentOf({}).recovery, attempts: 20 };
    const [agent, ...others] = names.map((name) =>
      agentOf({
        name,
        framework: 'code',
        folder: import.meta.dirname,
        recovery,
        calls: names,
        // The program itself is above: only the name of the file is read.
        settings: { entry: 'call-trees.ts' },
      }),
    );
    if (agent === undefined) throw new Error('no agent');
    const legs = await MortalLegs.open({
      kind,
      agent,
      harness,
      others: others.map((each) => readBy(harness, each)),
    });
    const { world } = legs;
    const { record } = await world.seed.client(world.scope.organizationId);
    return new CallTrees(legs, record.id);
  }

  async start(branch: Branch): Promise<Run> {
    const { world } = this.legs;
    return world.start(await world.open(), JSON.stringify(branch), this.#client);
  }

  /** The run and all below it, callers first. */
  runsOf(root: Run): Promise<readonly Run[]> {
    return treeOf(this.legs.world, root);
  }

  cancel(root: Run, death = new Death()): Promise<unknown> {
    const { world } = this.legs;
    const { sessionId, id: runId } = root;
    const store = death.wrap(world.store);
    const asked = cancelRun({ ...world, store }, world.scope, { sessionId, runId, by: 'cli_by' });
    return Promise.race([asked, death.reached]);
  }

  /** Has every run of the tree learn of the cancel of its caller, as passes do that find nothing locked. */
  async doom(): Promise<void> {
    const { world } = this.legs;
    while ((await world.store.read.waits.doomed(1)).length > 0) await cancelCalledRuns(world);
  }

  /** Executes what can be executed, and lets time pass where nothing can, until `isOver`. */
  async play(
    root: Run,
    fate: Death | Moment,
    isOver: (runs: readonly Run[]) => boolean = (runs) => runs.every(isEnded),
  ): Promise<readonly Run[]> {
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const runs = await this.runsOf(root);
      if (isOver(runs)) return runs;
      const open = runs.filter((run) => !isEnded(run));
      const next = open.find((run) => run.readyAt !== null || run.continueAt !== null);
      if (open.some(({ lease }) => lease !== null)) await this.legs.recover();
      else if (next === undefined) await this.#pass(alive(fate), open);
      else await this.legs.execute(next, alive(fate));
    }
    throw new Error('the tree does not end');
  }

  /** The passes of a server that dies as the worker of a leg does. */
  async #pass(fate: Death | Moment, open: readonly Run[]): Promise<void> {
    const { world } = this.legs;
    const death = fate instanceof Death ? fate : new Death();
    const services = { ...world, store: death.wrap(world.store) };
    const doomed = await world.store.read.waits.doomed(1);
    // Time passes when nothing else happens.
    const isStill = doomed.length === 0 && open.every(({ status }) => status !== 'cancelling');
    if (isStill) world.clock.advance(hour);
    const passes = async () => {
      if (isStill) return settleWaits(services);
      await cancelCalledRuns(services);
      return endParkedCancellations(services);
    };
    await Promise.race([passes(), death.reached]);
  }

  /** Whatever happened: every run has ended once, nothing is open, and the rows agree with the logs. */
  async check(runs: readonly Run[]): Promise<void> {
    const { world } = this.legs;
    const { waits, runs: stored } = world.store.read;
    deepEqual(await waits.doomed(1), []);
    const [root] = runs;
    deepEqual(root && (await stored.countBelow(`${root.id}/`, turnsMax)), runs.length - 1);
    for (const run of runs) {
      deepEqual([run.id, isEnded(run), run.openWaits], [run.id, true, 0]);
      const log = await world.logOf(run.id);
      const ends = log.flatMap(({ type }, at) => (terminal.has(type) ? [at] : []));
      deepEqual([run.id, ends], [run.id, [log.length - 1]]);
      const own = await waits.ofRun(run.id);
      deepEqual(own.filter(({ status }) => status === 'open').length, 0);
      const idsIn = (wanted: string) =>
        log
          .flatMap(({ type, data }) => (type === wanted ? [String(data['wait_id'])] : []))
          .toSorted();
      deepEqual(idsIn('wait_started'), own.map(({ id }) => id).toSorted());
      const settled = own.filter(({ status }) => status === 'settled');
      deepEqual(idsIn('wait_ended'), settled.map(({ id }) => id).toSorted());
    }
  }
}

function alive(fate: Death | Moment): Death | Moment {
  return fate instanceof Death && fate.isDead ? new Death() : fate;
}
