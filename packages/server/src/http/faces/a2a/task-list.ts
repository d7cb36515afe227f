import { limits, runStatuses } from '@convoke/contract';
import type { A2aTask } from '@convoke/faces';
import { countChangedRuns } from '../../../app/runs/changed-runs.ts';
import type { Services } from '../../../app/services.ts';
import type {
  ChangePlace,
  ChangedRun,
  ChangedRuns,
  RunPhase,
} from '../../../ports/repositories/changed-runs.ts';
import type { Cursors } from '../../cursors.ts';
import { readListParams } from './message.ts';
import { failCall } from './rpc.ts';
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

/** One page of the agent's tasks, the one that changed last first, of at most as many bytes as a request may have. */
export async function listTasks(
  services: Reading,
  at: AgentTasks,
  { cursors, params }: { readonly cursors: Cursors; readonly params: unknown },
) {
  const read = readListParams(params);
  const of = await runsOf(services, at, read);
  const list = `a2a:${at.scope.tenantId}:${JSON.stringify([at.agentName, read.contextId, of?.phases])}`;
  const query = { limit: read.pageSize, order: 'desc', cursor: read.pageToken } as const;
  let totalSize = 0;
  const { items, next } = await cursors.page(list, query, {
    idOf: ({ run }: { run: ChangedRun }) => placeText(run, totalSize),
    read: async ({ limit, after }) => {
      if (of === undefined) return [];
      const place = after === undefined ? undefined : placeIn(after);
      // The first page counts, and the others know it from their token.
      totalSize = place?.totalSize ?? (await countChangedRuns(services, at.scope, of));
      const runs = await services.store.read.changedRuns.list(at.scope, of, {
        limit,
        after: place,
      });
      return fitting(runs, (run) => listedTask(services, at, { run, ...read }));
    },
  });
  const { next_cursor: nextPageToken = '' } = next;
  const tasks = items.map(({ task }) => task);
  return { tasks, nextPageToken, pageSize: read.pageSize, totalSize };
}

/** Undefined where there are none: the state is one that no run can have, or the agent has no such context. */
async function runsOf(
  services: Reading,
  at: AgentTasks,
  { contextId, status }: Pick<ReturnType<typeof readListParams>, 'contextId' | 'status'>,
): Promise<ChangedRuns | undefined> {
  const phases = phasesOf(status);
  if (phases.length === 0) return undefined;
  if (contextId === undefined) return { in: { agentName: at.agentName }, phases };
  const known = await contextOf(services, at, contextId);
  return known && { in: { sessionId: known }, phases };
}

async function fitting(runs: readonly ChangedRun[], taskOf: (run: ChangedRun) => Promise<A2aTask>) {
  const items: { readonly run: ChangedRun; readonly task: A2aTask }[] = [];
  let bytes = 0;
  for (const run of runs) {
    const task = await taskOf(run);
    bytes += JSON.stringify(task).length;
    if (bytes > limits.faceBodyMaxBytes && items.length > 0) return { items, isCut: true };
    items.push({ run, task });
  }
  return { items, isCut: false };
}

/** A page token holds where the page ended, and the total. */
function placeText({ statusAt, id }: ChangedRun, totalSize: number): string {
  return [statusAt, id, totalSize].join(' ');
}

function placeIn(text: string): ChangePlace & { readonly totalSize: number } {
  const [statusAt = '', id = '', totalSize = ''] = text.split(' ');
  return { statusAt: Number(statusAt), id, totalSize: Number(totalSize) };
}

interface ListedTask {
  readonly run: ChangedRun;
  readonly hasHistory: boolean;
  readonly hasArtifacts: boolean;
}

/** A list shows the answers of ended tasks only: those of others would have to be read from their logs. */
async function listedTask(
  { store }: Reading,
  { scope }: AgentTasks,
  { run, hasHistory, hasArtifacts }: ListedTask,
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
