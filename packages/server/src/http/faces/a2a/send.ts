import { type InteractionKey, type JsonObject, idPattern, interactionKey } from '@convoke/contract';
import { answerPending, claimQuestion } from '../../../app/interactions.ts';
import { getRun } from '../../../app/runs/runs.ts';
import { invokeAgent, startRun } from '../../../app/runs/start-run.ts';
import type { Services } from '../../../app/services.ts';
import { requireScopes } from '../../../auth/gate.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import { actorOf, clientOf } from '../../actor.ts';
import type { Call } from '../../handler.ts';
import type { ReadMessage } from './message.ts';
import { failCall } from './rpc.ts';
import { type AgentTasks, findContext, findTask, pendingOf } from './tasks.ts';

export type Request = Pick<
  Call<'call_published_agent'>,
  'caller' | 'params' | 'request' | 'chargeRate'
>;

/** Delivers a message: it starts a run, or answers what its task asks. Sent again, it changes nothing (D-235). */
export async function deliver(
  services: Services,
  request: Request,
  message: ReadMessage,
): Promise<Run> {
  const at = { scope: request.caller.scope, agentName: request.params.agent_name };
  if (message.taskId !== undefined) {
    requireScopes(request.caller, 'interactions:write');
    return answer(services, {
      request,
      at,
      message,
      run: await findTask(services, at, message.taskId),
    });
  }
  if (message.data.length > 0) {
    failCall('CONTENT_TYPE_NOT_SUPPORTED', 'A task begins with text; data answers a task.');
  }
  if (message.text === '') failCall('INVALID_PARAMS', 'The message has no text.');
  return start(services, request, message);
}

async function start(services: Services, request: Request, message: ReadMessage): Promise<Run> {
  const { caller, params, chargeRate } = request;
  const { scope } = caller;
  const started = {
    input: { prompt: message.text },
    idempotencyKey: keyOf(message),
    messageId: message.id,
    clientId: clientOf(caller),
    createdBy: caller.actor.id,
    isRefusedWhileWaiting: true,
    chargeRate,
  };
  const agentName = params.agent_name;
  if (message.contextId === undefined) {
    requireScopes(request.caller, 'sessions:write', 'runs:write');
    const idempotencyKey = firstKeyOf(message, agentName);
    const first = { ...started, agentName, idempotencyKey };
    return (await invokeAgent(services, scope, first)).resource;
  }
  requireScopes(request.caller, 'runs:write');
  const sessionId = await findContext(services, { scope, agentName }, message.contextId);
  return (await startRun(services, scope, { ...started, sessionId })).resource;
}

/** Names a message within its context or its task. */
function keyOf({ id }: Pick<ReadMessage, 'id'>): string {
  return `a2a:${id}`;
}

/** Names a message that begins a context: for a client two agents are two servers, so the agent is part of the key. */
function firstKeyOf({ id }: Pick<ReadMessage, 'id'>, agentName: string): string {
  return `a2a/${agentName}:${id}`;
}

interface Answered {
  readonly request: Request;
  readonly at: AgentTasks;
  readonly message: ReadMessage;
  readonly run: Run;
}

async function answer(services: Services, answered: Answered): Promise<Run> {
  const { request, at, message, run } = answered;
  const { id: runId, sessionId } = run;
  if (message.contextId !== undefined && message.contextId !== sessionId) {
    failCall('INVALID_PARAMS', 'The task belongs to another context.');
  }
  const answers =
    message.data.length > 0
      ? await dataAnswers(services, answered)
      : [await textAnswer(services, answered)];
  const by = actorOf(request.caller, request.request);
  for (const { key, body } of answers) {
    await answerPending(services, at.scope, { sessionId, key, body, by });
  }
  return getRun(services, at.scope, { sessionId, runId });
}

interface Answer {
  readonly key: InteractionKey;
  /** The body of `answer_interaction`. */
  readonly body: JsonObject;
}

/** Each data part names what it answers. One that is no longer pending is left as it is. */
async function dataAnswers(
  { store }: Services,
  { at, message, run }: Answered,
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
async function textAnswer(services: Services, { at, message, run }: Answered): Promise<Answer> {
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
  if (open.length === 0) return failCall('UNSUPPORTED_OPERATION', 'The task asks nothing.');
  const how =
    'Text answers one open question only. Send a data part {interaction_key, decision} or {interaction_key, answer}.';
  return failCall('INVALID_PARAMS', how);
}
