import { type InteractionKey, type JsonObject, idPattern, interactionKey } from '@convoke/contract';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import { answerPending, claimQuestion } from '../../interactions.ts';
import { getRun } from '../../runs/runs.ts';
import { invokeAgent, startRun } from '../../runs/start-run.ts';
import type { Services } from '../../services.ts';
import { type FaceCaller, startedBy } from '../caller.ts';
import { inputOfMessage } from '../message-input.ts';
import { pendingOf } from '../pending.ts';
import { failCall } from './failure.ts';
import { type AgentTasks, findContext, findTask } from './tasks.ts';

/** A message of a client. The protocol owns its shape: these are the fields that are read (D-193). */
export interface SentMessage {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** Its text parts, joined by blank lines. */
  readonly text: string;
  readonly data: readonly JsonObject[];
}

/** Delivers a message: it starts a run, or answers what its task asks. Sent again, it changes nothing (D-235). */
export async function deliver(
  services: Services,
  caller: FaceCaller,
  { agentName, message }: { readonly agentName: string; readonly message: SentMessage },
): Promise<Run> {
  const at = { scope: caller.scope, agentName };
  if (message.taskId !== undefined) {
    caller.requireScopes('interactions:write');
    const run = await findTask(services, at, message.taskId);
    return answer(services, { caller, at, message, run });
  }
  if (message.data.some((part) => 'interaction_key' in part)) {
    failCall('CONTENT_TYPE_NOT_SUPPORTED', 'Data with an interaction_key answers a task.');
  }
  if (message.text === '' && message.data.length === 0) {
    failCall('INVALID_PARAMS', 'The message has neither text nor data.');
  }
  return start(services, caller, { at, message });
}

interface DeliveredMessage {
  readonly at: AgentTasks;
  readonly message: SentMessage;
}

async function start(
  services: Services,
  caller: FaceCaller,
  { at, message }: DeliveredMessage,
): Promise<Run> {
  const { scope, agentName } = at;
  const started = {
    ...startedBy(caller),
    input: inputOfMessage(message),
    idempotencyKey: keyOf(message),
    messageId: message.id,
  };
  if (message.contextId === undefined) {
    caller.requireScopes('sessions:write', 'runs:write');
    const idempotencyKey = firstKeyOf(message, agentName);
    const first = { ...started, agentName, idempotencyKey };
    return (await invokeAgent(services, scope, first)).resource;
  }
  caller.requireScopes('runs:write');
  const sessionId = await findContext(services, at, message.contextId);
  return (await startRun(services, scope, { ...started, sessionId })).resource;
}

/** Names a message within its context or its task. */
function keyOf({ id }: Pick<SentMessage, 'id'>): string {
  return `a2a:${id}`;
}

/** Names a message that begins a context: for a client two agents are two servers, so the agent is part of the key. */
function firstKeyOf({ id }: Pick<SentMessage, 'id'>, agentName: string): string {
  return `a2a/${agentName}:${id}`;
}

interface AnsweredTask extends DeliveredMessage {
  readonly caller: FaceCaller;
  readonly run: Run;
}

async function answer(services: Services, answered: AnsweredTask): Promise<Run> {
  const { caller, message, run } = answered;
  const { id: runId, sessionId } = run;
  if (message.contextId !== undefined && message.contextId !== sessionId) {
    failCall('INVALID_PARAMS', 'The task belongs to another context.');
  }
  const answers =
    message.data.length > 0
      ? await dataAnswers(services, answered)
      : [await textAnswer(services, answered)];
  const { scope, by, allower } = caller;
  for (const { key, body } of answers) {
    await answerPending(services, scope, { sessionId, key, body, by, allower });
  }
  return getRun(services, scope, { sessionId, runId });
}

interface Answer {
  readonly key: InteractionKey;
  /** The body of `answer_interaction`. */
  readonly body: JsonObject;
}

/** Each data part names what it answers. One that is no longer pending is left as it is. */
async function dataAnswers(
  { store }: Services,
  { at, message, run }: AnsweredTask,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { interaction_key: name, ...body } of message.data) {
    const known =
      typeof name === 'string' && idPattern.test(name)
        ? await store.read.interactions.find(at.scope, run.sessionId, interactionKey(name))
        : undefined;
    if (known?.runId !== run.id) {
      return failCall('INVALID_PARAMS', 'A data part needs an interaction_key of this task.');
    }
    answers.push({ key: known.key, body });
  }
  return answers;
}

/** Text answers the one question that is open. It never gives a permission: the data part says which, and what. */
async function textAnswer(services: Services, { at, message, run }: AnsweredTask): Promise<Answer> {
  if (message.text === '') failCall('INVALID_PARAMS', 'The message has no text.');
  const open = isEnded(run) ? [] : await pendingOf(services, run);
  const [asked] = open;
  const question = asked?.kind === 'question' && open.length === 1 ? asked.key : undefined;
  const key = await claimQuestion(services, at.scope, {
    runId: run.id,
    messageKey: keyOf(message),
    text: message.text,
    question,
  });
  if (key !== undefined) return { key, body: { answer: message.text } };
  if (isEnded(run)) return failCall('UNSUPPORTED_OPERATION', 'The task has ended.');
  if (open.length === 0)
    return failCall('UNSUPPORTED_OPERATION', 'The task is not waiting for input.');
  const how =
    'Text answers one open question only. Send a data part {interaction_key, decision} or {interaction_key, answer}.';
  return failCall('INVALID_PARAMS', how);
}
