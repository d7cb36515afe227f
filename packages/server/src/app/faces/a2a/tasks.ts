import {
  type RunStatus,
  type SessionId,
  formatEventId,
  idPattern,
  runId,
  sessionId,
} from '@convoke/contract';
import {
  A2aStream,
  type A2aMessage,
  type A2aState,
  type A2aTask,
  type TranscriptEvent,
} from '@convoke/faces';
import { logOf, readLog } from '../../runs/run-log.ts';
import type { Services } from '../../services.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { acceptedPrompt, otherMembers } from '../../../domain/run/run-input.ts';
import type { Allower } from '../../../domain/rules/approvers.ts';
import { isoTime } from '../../../domain/iso-time.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import { nextTurn } from '../../../runtime/next-turn.ts';
import { mayAllowIn } from '../caller.ts';
import { eventsOfRow, eventsOf, historyBounds, historyPage } from '../history.ts';
import { eventsOfPending } from '../pending.ts';
import { failCall } from './failure.ts';

type Reading = Pick<Services, 'store'>;
type TaskReading = Pick<Services, 'store' | 'clock'>;

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
  services: Reading,
  at: AgentTasks,
  id: string,
): Promise<SessionId> {
  const known = await contextOf(services, at, id);
  return known ?? failCall('INVALID_PARAMS', 'The agent has no context with this contextId.');
}

export async function contextOf(
  { store }: Reading,
  { scope, agentName }: AgentTasks,
  id: string,
): Promise<SessionId | undefined> {
  const known = idPattern.test(id)
    ? await store.read.sessions.find(scope, sessionId(id))
    : undefined;
  return known?.agentName === agentName ? known.id : undefined;
}

interface TaskReader {
  readonly endsAtWait: boolean;
  readonly reader: Allower;
}

/** What encodes the run from its state at this moment on. */
export function encoderOf(run: Run, { endsAtWait, reader }: TaskReader): A2aStream {
  const { id, sessionId: session, lastSeq } = run;
  const upTo = lastSeq === 0 ? undefined : formatEventId(lastSeq);
  const mayAllow = mayAllowIn(run, reader);
  return new A2aStream({ sessionId: session, runId: id, upTo, endsAtWait, mayAllow });
}

/** The task of a run as it stands. The row of a run that has ended says everything. */
export async function readTask(services: TaskReading, run: Run, reader: Allower): Promise<A2aTask> {
  const encoder = encoderOf(run, { endsAtWait: true, reader });
  const isWhole = isEnded(run) && run.outputText !== null;
  const events = isWhole ? eventsOfRow(run) : await eventsOfOpen(services, run);
  for (const event of events) encoder.take(event);
  return withStatus(encoder.task(), run);
}

/** A log that is longer than a history may be is not read (D-195): the rows say what the run has said and asks. */
async function eventsOfOpen(services: TaskReading, run: Run): Promise<readonly TranscriptEvent[]> {
  return (
    (await wholeLog(services, run)) ?? [
      ...eventsOfRow(run),
      ...(await eventsOfPending(services, run)),
    ]
  );
}

async function wholeLog(
  services: TaskReading,
  run: Run,
): Promise<readonly TranscriptEvent[] | undefined> {
  if (run.lastSeq > historyBounds.limit) return undefined;
  const log: TranscriptEvent[] = [];
  let bytes = 0;
  for (let after = 0; after < run.lastSeq; ) {
    const { events } = await readLog(services, logOf(run), { after, ...historyPage });
    const known = events.filter(({ seq }) => seq <= run.lastSeq);
    for (const { body } of known) bytes += body.length;
    if (bytes > historyBounds.maxBytes) return undefined;
    log.push(...eventsOf(known));
    after = events.at(-1)?.seq ?? run.lastSeq;
    // SQLite reads on this thread.
    await nextTurn();
  }
  return log;
}

/**
 * Says of the state what a list says of it: the row knows both, and the log what the agent asks or why it failed. Only
 * the log knows that all of it is asked of other people: for this client the task works on (D-901).
 */
function withStatus(task: A2aTask, run: Run): A2aTask {
  const status = statusOf(run);
  const { state, message } = task.status;
  if (message === undefined) return { ...task, status };
  const isForOthers =
    status.state === 'TASK_STATE_INPUT_REQUIRED' && state === 'TASK_STATE_WORKING';
  const isSame = state === status.state || isForOthers;
  return { ...task, status: isSame ? { ...status, state, message } : status };
}

/** With the message that began the task; what was said since is in the artifact and the status. */
export function withHistory(task: A2aTask, run: Run, historyLength: number): A2aTask {
  return historyLength === 0 ? task : { ...task, history: [inputOf(run)] };
}

function inputOf(run: Run): A2aMessage {
  return {
    messageId: run.messageId ?? `${run.id}-input`,
    contextId: run.sessionId,
    taskId: run.id,
    role: 'ROLE_USER',
    parts: partsOf(JSON.parse(run.input) as JsonObject),
  };
}

/** The parts that start a run with this input. */
function partsOf(input: JsonObject): A2aMessage['parts'] {
  const text = acceptedPrompt(input);
  const data = otherMembers(input);
  const hasData = Object.keys(data).length > 0;
  return [...(text === '' && hasData ? [] : [{ text }]), ...(hasData ? [{ data }] : [])];
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

type StatusOfRun = Pick<Run, 'status' | 'pendingInteractions' | 'statusAt'>;

/** The status that the row of a run says. One that is answered and waits for its worker asks nothing. */
export function statusOf({ status, pendingInteractions, statusAt }: StatusOfRun) {
  const isAnswered = status === 'waiting' && pendingInteractions === 0;
  const state = isAnswered ? 'TASK_STATE_WORKING' : states[status];
  return { state, timestamp: isoTime(statusAt) };
}
