import {
  type SessionId,
  idPattern,
  interactionKey,
  nearestName,
  sessionId,
} from '@convoke/contract';
import {
  aboutOf,
  answerTool,
  cancelTool,
  replyTo,
  sessionArgument,
  waitTool,
} from '@convoke/faces';
import { isEnabledFor } from '../../../domain/agent.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { shownName } from '../../../domain/preview.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import { answerPending, claimQuestion } from '../../interactions.ts';
import { cancelRun, getRun } from '../../runs/runs.ts';
import { invokeAgent, startRun } from '../../runs/start-run.ts';
import type { Services } from '../../services.ts';
import { findSession } from '../../sessions.ts';
import { type FaceCaller, startedBy } from '../caller.ts';
import { openAsks } from '../pending.ts';
import { failTool } from './failure.ts';
import { type Offer, findRun, isNamed, offeredAgents, schemasOf, scopesOfTool } from './tools.ts';

/** The first round of a call. */
export interface ToolCall {
  readonly offer: Offer;
  readonly name: string;
  readonly given: JsonObject;
  /** Makes it safe to send the call again (D-616). */
  readonly key: string | undefined;
}

/** Does what the tool does, and returns the run whose outcome is its result. */
export async function carryOut(
  services: Services,
  caller: FaceCaller,
  call: ToolCall,
): Promise<Run> {
  const { offer, name, given } = call;
  caller.requireScopes(...scopesOfTool(name));
  if (name !== waitTool && name !== answerTool && name !== cancelTool) {
    return start(services, caller, call);
  }
  caller.chargeRate();
  const run = await findRun(services, offer, textIn(given, 'run_id'));
  if (name === waitTool) return run;
  if (name === cancelTool) return cancel(services, caller, run);
  await answer(services, caller, { call, run });
  return getRun(services, caller.scope, { sessionId: run.sessionId, runId: run.id });
}

async function start(services: Services, caller: FaceCaller, call: ToolCall): Promise<Run> {
  const { offer, name, given, key } = call;
  const { scope } = caller;
  const agent = services.agents.find(name);
  const isOffered =
    agent !== undefined && isEnabledFor(agent, scope.tenantId) && isNamed(offer, name);
  if (!isOffered) return failUnknownAgent(services, offer, name);
  const argument = sessionArgument(schemasOf(agent));
  const { [argument]: session, ...members } = given;
  // Of an agent without a schema nothing else is read.
  const input = agent.input === undefined ? { prompt: textIn(given, 'prompt') } : members;
  const started = { ...startedBy(caller), input, idempotencyKey: keyOf(key) };
  if (session === undefined || session === null) {
    return (await invokeAgent(services, scope, { ...started, agentName: name })).resource;
  }
  const id = await sessionOf(services, call, textIn(given, argument));
  return (await startRun(services, scope, { ...started, sessionId: id })).resource;
}

/** Only an agent that is a tool at this address is suggested. */
function failUnknownAgent({ agents }: Services, offer: Offer, name: string): never {
  const offered = offeredAgents(agents, offer).map((agent) => agent.name);
  const meant = nearestName(name, offered);
  const end = meant === undefined ? '.' : `; did you mean "${meant}"?`;
  return failTool(`There is no agent ${shownName(name)}${end}`);
}

async function sessionOf(services: Services, call: ToolCall, id: string): Promise<SessionId> {
  const { offer, name } = call;
  const session = idPattern.test(id)
    ? await findSession(services, offer.scope, sessionId(id))
    : undefined;
  if (session?.agentName === name) return session.id;
  return failTool(`${name} has no session ${shownName(id)}.`);
}

async function cancel(services: Services, { scope, by }: FaceCaller, run: Run): Promise<Run> {
  if (isEnded(run)) return run;
  const { sessionId: session, id: runId } = run;
  return (await cancelRun(services, scope, { sessionId: session, runId, by: by.id })).run;
}

/**
 * Answers the oldest question of the run. Whether a call that may have been carried out is repeated is a decision like
 * a permission, and no model's (D-396). Under a key it answers the question that was the oldest when it came first.
 */
async function answer(
  services: Services,
  { scope, by, allower }: FaceCaller,
  { call, run }: { readonly call: ToolCall; readonly run: Run },
): Promise<void> {
  const said = textIn(call.given, 'answer');
  const key = keyOf(call.key);
  const asks = isEnded(run) ? [] : await openAsks(services, run);
  const questions = asks.filter((ask) => ask.about === 'question');
  const open = questions.find((question) => aboutOf(question) === undefined);
  if (open !== undefined && replyTo(open, said) === undefined) {
    failTool(`That is not one of the options: ${shownName(said)}`);
  }
  const claimed =
    key === undefined
      ? open?.key
      : await claimQuestion(services, scope, {
          runId: run.id,
          messageKey: key,
          text: said,
          question: open && interactionKey(open.key),
        });
  if (claimed === undefined) failTool('The run waits for no answer that you may pass on.');
  // Sent again, it answers nothing: the question has been answered since.
  const question = questions.find((ask) => ask.key === claimed);
  const body = question && replyTo(question, said);
  if (body === undefined) return;
  await answerPending(services, scope, {
    sessionId: run.sessionId,
    key: interactionKey(claimed),
    body,
    by,
    allower,
  });
}

function keyOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : `mcp:${key}`;
}

function textIn(given: JsonObject, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  return failTool(`${name} must be a string.`);
}
