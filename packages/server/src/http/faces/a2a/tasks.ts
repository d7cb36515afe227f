import {
  A2aStream,
  type A2aMessage,
  type A2aState,
  type A2aTask,
  type RunStatus,
  type SessionId,
  type TurnEvent,
  formatEventId,
  idPattern,
  limits,
  runId,
  sessionId,
} from '@convoke/contract';
import { logOf, readLog } from '../../../app/runs/run-log.ts';
import { listRuns } from '../../../app/runs/runs.ts';
import type { Services } from '../../../app/services.ts';
import { listTenantRuns } from '../../../app/tenant-reads.ts';
import { acceptedPrompt } from '../../../domain/agent.ts';
import { isoTime } from '../../../domain/iso-time.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { PageRequest } from '../../../ports/page.ts';
import type { Cursors } from '../../cursors.ts';
import { eventsOf } from '../face-stream.ts';
import { eventsInstead } from '../run-history.ts';
import { readListParams } from './message.ts';
import { failCall } from './rpc.ts';

type Reading = Pick<Services, 'store'>;

/** The agent of the address: tasks and contexts of others look like none (D-235). */
export interface AgentTasks {
  readonly scope: TenantScope;
  readonly agentName: string;
}

export async function findTask(
  { store }: Reading,
  { scope, agentName }: AgentTasks,
  id: string,
): Promise<Run> {
  const run = idPattern.test(id) ? await store.read.runs.findById(scope, runId(id)) : undefined;
  if (run?.agentName === agentName) return run;
  return failCall('TASK_NOT_FOUND', 'The agent has no task with this id.');
}

export async function findContext(
  { store }: Reading,
  { scope, agentName }: AgentTasks,
  id: string,
): Promise<SessionId> {
  const known = idPattern.test(id)
    ? await store.read.sessions.find(scope, sessionId(id))
    : undefined;
  if (known?.agentName === agentName) return known.id;
  return failCall('INVALID_PARAMS', 'The agent has no context with this contextId.');
}

/** What encodes the run from its state at this moment on. */
export function encoderOf(run: Run, endsAtWait: boolean): A2aStream {
  const { id, sessionId: session, lastSeq } = run;
  const upTo = lastSeq === 0 ? undefined : formatEventId(lastSeq);
  return new A2aStream({ sessionId: session, runId: id, upTo, endsAtWait });
}

/** The task of a run as it stands. The row of a run that has ended says everything. */
export async function readTask(services: Reading, run: Run): Promise<A2aTask> {
  const encoder = encoderOf(run, true);
  if (isEnded(run) && run.outputText !== null) eventsInstead(run).forEach((e) => encoder.take(e));
  else await everyEvent(services, run, (event) => encoder.take(event));
  return encoder.task();
}

const page = { limit: 1000, maxBytes: 1024 * 1024 };

async function everyEvent(
  services: Reading,
  run: Run,
  take: (event: TurnEvent) => unknown,
): Promise<void> {
  let after = 0;
  while (after < run.lastSeq) {
    const { events } = await readLog(services, logOf(run), { after, ...page });
    eventsOf(events).forEach(take);
    after = events.at(-1)?.seq ?? run.lastSeq;
  }
}

/** With the message that began the task; what was said since is in the artifact and the status. */
export function withHistory(task: A2aTask, run: Run, historyLength: number): A2aTask {
  return historyLength === 0 ? task : { ...task, history: [inputOf(run)] };
}

function inputOf(run: Run): A2aMessage {
  return {
    messageId: `${run.id}-input`,
    contextId: run.sessionId,
    taskId: run.id,
    role: 'ROLE_USER',
    parts: [{ text: acceptedPrompt(JSON.parse(run.input) as JsonObject) }],
  };
}

const states = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  cancelling: 'TASK_STATE_WORKING',
  waiting: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  cancelled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
} as const satisfies Readonly<Record<RunStatus, A2aState>>;

const statesByName = new Map<string, readonly RunStatus[]>();
for (const [status, state] of Object.entries(states)) {
  const short = state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-');
  for (const name of [state, short]) {
    statesByName.set(name, [...(statesByName.get(name) ?? []), status as RunStatus]);
  }
}

/** The runs with a state, by its name in either version. A state that no run can have has none. */
function statusesOf(state: string | undefined): readonly RunStatus[] | undefined {
  const isAny = state === undefined || state === 'TASK_STATE_UNSPECIFIED';
  return isAny ? undefined : (statesByName.get(state) ?? []);
}

interface ListedRun {
  readonly id: Run['id'];
  readonly sessionId: SessionId;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** One page of the agent's tasks, the newest first, of at most as many bytes as a request may have. */
export async function listTasks(
  services: Reading,
  at: AgentTasks,
  { cursors, params }: { readonly cursors: Cursors; readonly params: unknown },
) {
  const read = readListParams(params);
  const statuses = statusesOf(read.status);
  const context = read.contextId && (await findContext(services, at, read.contextId));
  const list = `a2a:${at.scope.tenantId}:${JSON.stringify([at.agentName, context, statuses])}`;
  const query = { limit: read.pageSize, order: 'desc', cursor: read.pageToken } as const;
  const { items: tasks, next } = await cursors.page(list, query, {
    idOf: (task: A2aTask) => task.id,
    read: async (wanted) => {
      if (statuses?.length === 0) return [];
      const { items, ...rest } = await runsOf(services, at, { context, statuses, page: wanted });
      const shown: A2aTask[] = [];
      let bytes = 0;
      for (const run of items) {
        const task = await listedTask(services, at, { run, ...read });
        bytes += JSON.stringify(task).length;
        if (bytes > limits.faceBodyMaxBytes && shown.length > 0) {
          return { items: shown, isCut: true };
        }
        shown.push(task);
      }
      return { items: shown, ...rest };
    },
  });
  const { next_cursor: nextPageToken = '' } = next;
  // How many there are in all is not counted: a tenant may have millions.
  const totalSize = tasks.length + (nextPageToken === '' ? 0 : 1);
  return { tasks, nextPageToken, pageSize: read.pageSize, totalSize };
}

interface RunsOf {
  readonly context: SessionId | '' | undefined;
  readonly statuses: readonly RunStatus[] | undefined;
  readonly page: PageRequest;
}

async function runsOf(
  services: Reading,
  { scope, agentName }: AgentTasks,
  { context, statuses, page: wanted }: RunsOf,
): Promise<{ items: readonly ListedRun[]; isCut: boolean; lookedTo?: string | undefined }> {
  if (context === undefined || context === '') {
    return listTenantRuns(services, scope, { filter: { agentName, statuses }, page: wanted });
  }
  const request = { sessionId: context, filter: {}, page: wanted };
  const { items, isCut } = await listRuns(services, scope, request);
  const isFull = isCut || items.length === wanted.limit;
  const matching = items.filter(({ status }) => statuses?.includes(status) ?? true);
  // The page ends where rows were looked at, whether they match or not.
  return { items: matching, isCut: isFull, lookedTo: items.at(-1)?.id };
}

interface ListedTask {
  readonly run: ListedRun;
  readonly hasHistory: boolean;
  readonly hasArtifacts: boolean;
}

/** A list shows the answers of ended tasks only: those of others would have to be read from their logs. */
async function listedTask(
  { store }: Reading,
  { scope }: AgentTasks,
  { run, hasHistory, hasArtifacts }: ListedTask,
): Promise<A2aTask> {
  const { id, sessionId: contextId, status } = run;
  const timestamp = isoTime(run.endedAt ?? run.startedAt ?? run.createdAt);
  const task = { id, contextId, status: { state: states[status], timestamp } };
  if (!hasHistory && !hasArtifacts) return task;
  const row = await store.read.runs.findById(scope, id);
  if (row === undefined) return task;
  const { outputText: text } = row;
  const artifacts = [{ artifactId: 'answer', parts: [{ text: text ?? '' }] }];
  const shown = hasArtifacts && text !== null && text !== '' ? { ...task, artifacts } : task;
  return withHistory(shown, row, hasHistory ? 1 : 0);
}
