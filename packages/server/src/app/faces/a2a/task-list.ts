import { limits, runStatuses } from '@convoke/contract';
import type { A2aTask } from '@convoke/faces';
import type { CutPage } from '../../../ports/page.ts';
import type {
  ChangePlace,
  ChangedRun,
  ChangedRuns,
  RunPhase,
} from '../../../ports/repositories/runs/changed-runs.ts';
import { countChangedRuns } from '../../runs/changed-runs.ts';
import type { Services } from '../../services.ts';
import { failCall } from './failure.ts';
import { type AgentTasks, contextOf, statusOf, withHistory } from './tasks.ts';

type Reading = Pick<Services, 'store'>;

/** The runs in each state. A state that exists and that no run can have has none. */
const phasesByState: Readonly<Record<string, readonly RunPhase[]>> = {
  TASK_STATE_SUBMITTED: ['queued'],
  TASK_STATE_WORKING: ['running', 'cancelling', 'answered'],
  TASK_STATE_INPUT_REQUIRED: ['asking'],
  TASK_STATE_COMPLETED: ['completed'],
  TASK_STATE_CANCELED: ['cancelled'],
  TASK_STATE_FAILED: ['failed'],
  TASK_STATE_REJECTED: [],
  TASK_STATE_AUTH_REQUIRED: [],
};

const phasesByName = new Map(
  Object.entries(phasesByState).flatMap(([state, phases]) => {
    const legacy = state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-');
    return [[state, phases] as const, [legacy, phases] as const];
  }),
);
phasesByName.set('TASK_STATE_UNSPECIFIED', runStatuses);
phasesByName.set('unknown', []);

/** The runs with a state, by its name in either version. */
function phasesOf(state: string | undefined): readonly RunPhase[] {
  if (state === undefined) return runStatuses;
  return phasesByName.get(state) ?? failCall('INVALID_PARAMS', 'params.status: is not a state.');
}

/** Which tasks a list shows, and how much of each. */
export interface TaskQuery {
  readonly contextId: string | undefined;
  /** The name of a state, in either version. */
  readonly status: string | undefined;
  readonly hasHistory: boolean;
  readonly hasArtifacts: boolean;
}

/** The runs of a list. Undefined where there are none: no run can have the state, or the agent has no such context. */
export async function findListed(
  services: Reading,
  at: AgentTasks,
  { contextId, status }: TaskQuery,
): Promise<ChangedRuns | undefined> {
  const phases = phasesOf(status);
  if (phases.length === 0) return undefined;
  if (contextId === undefined) return { in: { agentName: at.agentName }, phases };
  const known = await contextOf(services, at, contextId);
  return known && { in: { sessionId: known }, phases };
}

/** Where a page ended, and how many tasks the list has: the first page counts them for the others. */
export type ListPlace = ChangePlace & { readonly totalSize: number };

export interface ListedTask {
  readonly place: ListPlace;
  readonly task: A2aTask;
}

/** One page of the agent's tasks, the one that changed last first, of at most as many bytes as a request may have. */
export async function listTasks(
  services: Reading,
  at: AgentTasks,
  {
    of,
    query,
    limit,
    after,
  }: {
    readonly of: ChangedRuns;
    readonly query: TaskQuery;
    readonly limit: number;
    readonly after: ListPlace | undefined;
  },
): Promise<CutPage<ListedTask> & { readonly totalSize: number }> {
  const totalSize = after?.totalSize ?? (await countChangedRuns(services, at.scope, of));
  const runs = await services.store.read.changedRuns.list(at.scope, of, { limit, after });
  const page = await fitting(runs, (run) => taskOf(services, at, { run, ...query }));
  const items = page.items.map(({ run: { statusAt, id }, task }) => ({
    place: { statusAt, id, totalSize },
    task,
  }));
  return { items, isCut: page.isCut, totalSize };
}

async function fitting(runs: readonly ChangedRun[], read: (run: ChangedRun) => Promise<A2aTask>) {
  const items: { readonly run: ChangedRun; readonly task: A2aTask }[] = [];
  let bytes = 0;
  for (const run of runs) {
    const task = await read(run);
    bytes += JSON.stringify(task).length;
    if (bytes > limits.faceBodyMaxBytes && items.length > 0) return { items, isCut: true };
    items.push({ run, task });
  }
  return { items, isCut: false };
}

/** A list shows the answers of ended tasks only: those of others would have to be read from their logs. */
async function taskOf(
  { store }: Reading,
  { scope }: AgentTasks,
  {
    run,
    hasHistory,
    hasArtifacts,
  }: Omit<TaskQuery, 'contextId' | 'status'> & { readonly run: ChangedRun },
): Promise<A2aTask> {
  const { id, sessionId: contextId } = run;
  const task = { id, contextId, status: statusOf(run) };
  if (!hasHistory && !hasArtifacts) return task;
  const row = await store.read.runs.findById(scope, id);
  if (row === undefined) return task;
  const { outputText: text } = row;
  const artifacts = [{ artifactId: 'answer', parts: [{ text: text ?? '' }] }];
  const shown = hasArtifacts && text !== null && text !== '' ? { ...task, artifacts } : task;
  return withHistory(shown, row, hasHistory ? 1 : 0);
}
