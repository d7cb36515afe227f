import {
  type Convoke,
  type JsonObject,
  NotFoundError,
  type Run,
  type RunHandle,
} from '@convoke/sdk';
import { sessionArgument } from '@convoke/faces';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { answerOnce } from '../answer-once.ts';
import { patiently } from '../patience.ts';
import { answerIn, formOf, replyTo } from './forms.ts';
import { type RunState, errorResult, runResult, waitingResult } from './results.ts';
import { type OfferedAgents, answerTool, waitTool } from './tools.ts';
import { pendingOf, waitFor } from './waiting.ts';

export interface Calls {
  readonly convoke: Convoke;
  readonly offered: OfferedAgents;
  readonly waitMs: number;
  /** Where a person sees a run in the console. */
  readonly linkTo: (runId: string) => Promise<string>;
}

interface Call {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly context: ServerContext['mcpReq'];
  /** Whether the client shows forms to a person. */
  readonly canAsk: boolean;
}

/**
 * Carries out a call of a tool. A call is made in rounds: after an `inputRequired` it comes again, with what a person has
 * filled in and with the run as its state (D-219). So only its first round starts a run or passes an answer on.
 */
export async function callTool(
  calls: Calls,
  call: Call,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = call.context;
  let run: RunHandle | undefined;
  try {
    const state = call.context.requestState<string>();
    run = state === undefined ? await firstRound(calls, call) : await runOf(calls, state, signal);
    const isLeft = state !== undefined && (await takeForms(calls, call, run));
    const reached = await waitFor(run, { ...calls, signal, progress: progressOf(call.context) });
    return await (isLeft || !call.canAsk ? resultOf(calls, reached) : formRequest(calls, reached));
  } catch (error) {
    if (signal.aborted) throw error;
    return errorResult(error, run?.id);
  }
}

async function firstRound(calls: Calls, { name, given, context }: Call): Promise<RunHandle> {
  const { signal } = context;
  if (name === waitTool) return runOf(calls, textIn(given, 'run_id'), signal);
  if (name === answerTool) {
    const run = await runOf(calls, textIn(given, 'run_id'), signal);
    await answerQuestion(calls, { run, said: textIn(given, 'answer'), signal });
    return run;
  }
  if (!calls.offered.has(name)) throw new Error(`There is no agent ${name}.`);
  const { agents, sessions } = calls.convoke;
  const argument = sessionArgument(await agents.get(name, { signal }));
  const { [argument]: sessionId, ...rest } = given;
  const input = rest as JsonObject;
  // One request: an input that is refused leaves no session behind.
  if (sessionId === undefined) return agents.invoke(name, input, { signal });
  const session = await sessions.get(textIn(given, argument), { signal });
  const { agent_name, pending_interactions: waiting, current_run_id: current } = session.record;
  if (agent_name !== name) throw new Error(`${session.id} is a session of ${agent_name}.`);
  if (waiting > 0) {
    throw new Error(`The run ${current} of this session waits for a person: call ${waitTool}.`);
  }
  return session.run(input, { signal });
}

/** A run of an agent that is not offered is as unknown as one that does not exist. */
async function runOf({ convoke, offered }: Calls, id: string, signal: AbortSignal): Promise<Run> {
  const unknown = `There is no run ${id}.`;
  try {
    const run = await patiently(() => convoke.runs.get(id, { signal }), signal);
    if (offered.has(run.record.agent_name)) return run;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  throw new Error(unknown);
}

interface Answering {
  readonly run: Run;
  readonly said: string;
  readonly signal: AbortSignal;
}

/**
 * Answers the oldest question of the run. Whether a call that may have been carried out is repeated is a decision like a
 * permission, and no model's (D-396).
 */
async function answerQuestion({ convoke }: Calls, { run, said, signal }: Answering): Promise<void> {
  const pending = await pendingOf(convoke, run, signal);
  const ask = pending.find(({ kind, about }) => kind === 'question' && about === undefined);
  if (ask === undefined) throw new Error('The run waits for no answer that you may pass on.');
  const answer = replyTo(ask, said);
  if (answer === undefined) throw new Error(`That is none of the options: ${said}`);
  await answerOnce(convoke.sessions.at(run.sessionId), ask.interaction_key, answer);
}

/**
 * Takes what a person has filled in, for requests that still wait. Returns true if they declined or closed a form: the
 * request stays, and is not shown to them again in this call.
 */
async function takeForms({ convoke }: Calls, call: Call, run: RunHandle): Promise<boolean> {
  const { inputResponses, signal } = call.context;
  // Without forms there is no person behind a response (D-220).
  if (!call.canAsk) return false;
  let isLeft = false;
  for (const ask of await pendingOf(convoke, run, signal)) {
    const response = inputResponse(inputResponses, ask.interaction_key);
    if (response.kind !== 'elicit') continue;
    if (response.action === 'accept') {
      const answer = answerIn(ask, response.content ?? {});
      if (answer !== undefined)
        await answerOnce(convoke.sessions.at(run.sessionId), ask.interaction_key, answer);
    } else isLeft = true;
  }
  return isLeft;
}

/** Asks for the oldest request; the others follow, so that no answer is lost with one that is not given. */
async function formRequest(
  calls: Calls,
  state: RunState,
): Promise<CallToolResult | InputRequiredResult> {
  const [ask] = state.asks;
  const form = ask && formOf(ask, state.text);
  if (ask === undefined || form === undefined) return resultOf(calls, state);
  return inputRequired({
    inputRequests: { [ask.interaction_key]: inputRequired.elicit({ mode: 'form', ...form }) },
    requestState: state.record.id,
  });
}

async function resultOf({ linkTo }: Calls, state: RunState): Promise<CallToolResult> {
  if (state.asks.length === 0) return runResult(state);
  return waitingResult(state, await linkTo(state.record.id));
}

function progressOf({ _meta, notify }: ServerContext['mcpReq']): (count: number) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  return (progress) => {
    const params = { progressToken, progress, message: 'the agent is working' };
    // Fails when the client is gone; then the call is aborted too.
    notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

function textIn(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new Error(`${name} must be a string.`);
}

/** Capabilities come with each request, or in the older era with the connection. */
export function showsForms(
  { envelope }: ServerContext['mcpReq'],
  connection: ClientCapabilities | undefined,
): boolean {
  const own = (envelope ?? {}) as Partial<Record<string, ClientCapabilities>>;
  const { elicitation } = own[CLIENT_CAPABILITIES_META_KEY] ?? connection ?? {};
  // A client that declares elicitation without a mode has forms.
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}
