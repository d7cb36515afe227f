import type { ClientId } from '@convoke/contract';
import { cancelRun } from '../../src/app/runs/runs.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { CallEvent } from '../../src/execution/recording/raise-calls.ts';
import type { DatabaseKind } from './databases.ts';
import { type RunFixture, createRunFixture, over } from './run-fixture.ts';

export const research = {
  type: 'wait',
  ref: 'call researcher 1',
  kind: 'run',
  name: 'researcher',
  input: { prompt: 'chairs' },
} as const satisfies CallEvent;
export const parked = { status: 'waiting', ...over } as const;
export const completed = (outputText: string) => ({ status: 'completed', outputText }) as const;
export const failed = {
  status: 'failed',
  code: 'model_error',
  message: 'The model is down.',
  ...over,
} as const;

const everybody = ['agent', 'researcher', 'critic', 'editor', 'clerk', 'porter', 'guard'];
const calls = [...everybody, 'nobody'];
const limits = {
  runSeconds: 900,
  waitHours: 72,
  ceiling: { maxTokens: 100, maxCostMicros: null },
};
const others = [
  ...everybody.slice(1).map((name) => ({ name, framework: 'scripted', calls })),
  { name: 'spender', framework: 'scripted', calls, limits },
];

export type CallingWorld = Awaited<ReturnType<typeof createCallingWorld>>;

/** Runs that call each other on a real database: the test acts as their workers. */
export async function createCallingWorld(kind: DatabaseKind) {
  const world: RunFixture = await createRunFixture(
    kind,
    { framework: 'scripted', calls },
    { others },
  );
  world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
  const client: ClientId = (await world.seed.client(world.scope.organizationId)).record.id;

  async function begun() {
    const run = await world.start(await world.open(), 'plan', client);
    return { run, leg: await world.claimed(run) };
  }

  /** A caller that is parked on its calls, and the runs that it has called. */
  async function calling(...items: CallEvent[]) {
    const { run, leg } = await begun();
    await world.record(leg, { items: items.length === 0 ? [research] : items, end: parked });
    return { caller: await world.read(run), called: await calledBy(run) };
  }

  const calledBy = (run: Pick<Run, 'id'>) => calledRuns(world, run);

  const waitOf = async (run: Pick<Run, 'id'>, ref: string = research.ref) =>
    world.store.read.waits.findByRef(run.id, ref);

  /** What the next leg of the run gets for its call. */
  async function resultIn(run: Pick<Run, 'id'>, ref: string = research.ref) {
    const { input } = await world.claimed(await world.read(run));
    return 'waits' in input ? input.waits?.get(ref) : undefined;
  }

  const cancel = (run: Run) =>
    cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id, by: 'cli_by' });

  return { world, client, begun, calling, calledBy, waitOf, resultIn, cancel };
}

/** The runs that a run has called. */
export async function calledRuns(world: RunFixture, run: Pick<Run, 'id'>): Promise<Run[]> {
  const waits = await world.store.read.waits.ofRun(run.id);
  const ids = waits.flatMap(({ childRunId }) => (childRunId === null ? [] : [childRunId]));
  return Promise.all(ids.map((id) => world.read({ id })));
}

/** The run and all below it, as they are now: callers before those that they have called. */
export async function treeOf(world: RunFixture, root: Pick<Run, 'id'>): Promise<Run[]> {
  const all = [await world.read(root)];
  // Those that are added are walked, too.
  for (const run of all) all.push(...(await calledRuns(world, run)));
  return all;
}

export function only(called: readonly Run[]): Run {
  const [first] = called;
  if (first === undefined || called.length !== 1) throw new Error(`${called.length} runs`);
  return first;
}
