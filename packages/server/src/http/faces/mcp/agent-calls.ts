import { errors } from '@convoke/contract';
import { type McpResult, cancelTool, errorResult } from '@convoke/faces';
import { takeForms, takeLateResponse } from '../../../app/faces/mcp/answers.ts';
import { carryOut } from '../../../app/faces/mcp/calls.ts';
import { ToolProblem } from '../../../app/faces/mcp/failure.ts';
import { findRun, scopesOfTool } from '../../../app/faces/mcp/tools.ts';
import { Refusal } from '../../../app/refusal.ts';
import { getRun } from '../../../app/runs/runs.ts';
import type { Services } from '../../../app/services.ts';
import { Challenge } from '../../../auth/tokens/challenge.ts';
import { type JsonObject, isObject } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { RawReply, Reply } from '../../handler.ts';
import type { EventStreams } from '../../streams/event-streams.ts';
import { faceCaller } from '../caller.ts';
import { type AskingMeans, meansOf, meansOfClient } from './capabilities.ts';
import { type RpcId, failMessage } from './failure.ts';
import { type McpCaller, askedIn, topicOfAsk, topicOfCall } from './leaving.ts';
import type { McpRequest } from './messages.ts';
import type { StreamPlace } from './stream-place.ts';
import { type Answering, type BegunCall, WaitingCall, type WaitingParts } from './waiting-call.ts';
import { formMs } from './waiting.ts';

export interface McpParts extends WaitingParts {
  readonly streams: EventStreams;
}

export interface CallOptions {
  readonly key: string | undefined;
  readonly takesStream: boolean;
  readonly wrap: Answering['wrap'];
}

const noMeans: AskingMeans = { forms: false, urls: false };
/** How long a call waits for the end of the run that it cancels. */
const cancelWaitMs = 15_000;

/** Calls of tools (D-613 to D-617). */
export class AgentCalls {
  readonly #services: Services;
  readonly #parts: McpParts;

  constructor(services: Services, parts: McpParts) {
    this.#services = services;
    this.#parts = parts;
  }

  /** A call is made in rounds in the newer era. Only the first starts a run, answers or cancels. */
  async call(
    caller: McpCaller,
    request: McpRequest,
    { key, takesStream, wrap }: CallOptions,
  ): Promise<Reply<'call_mcp'>> {
    const { id: rpcId, isOld, params } = request;
    const answering: Answering = {
      caller,
      rpcId,
      isOld,
      wrap,
      means: meansIn(caller, request),
      progressToken: progressTokenIn(params),
    };
    let begun: BegunCall;
    try {
      begun = await this.#begin(answering, { params, key });
    } catch (error) {
      return json(rpcId, wrap(problemOf(error)));
    }
    const isStream = takesStream && (isOld || answering.progressToken !== undefined);
    return isStream ? this.#stream(answering, begun) : this.#hold(answering, begun);
  }

  /** Continues a call of the older era whose stream broke, on any server. */
  resume(
    caller: McpCaller,
    { place, run }: { readonly place: StreamPlace; readonly run: Run },
  ): RawReply {
    const { rpcId, asked } = place;
    const means = mayAnswer(caller) ? place.means : noMeans;
    const answering = { caller, rpcId, isOld: true, means, wrap: asItIs };
    const { waitMs: ms } = caller;
    return this.#stream(answering, { run, ms, endsAtAsk: true, isLeft: false, opened: asked });
  }

  /** Ends the waiting of a call. Its run continues. */
  leave(caller: McpCaller, { requestId }: JsonObject): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const topic = topicOfCall(caller, requestId);
    if (topic !== undefined) this.#parts.fanout.wake(topic);
  }

  /** Takes the response to a form that another request, maybe of another server, has sent. */
  async takeResponse(
    caller: McpCaller,
    { id, result }: { readonly id: RpcId; readonly result: JsonObject | undefined },
  ): Promise<void> {
    const face = faceCaller(caller);
    face.requireScopes('interactions:write');
    const { forms, urls } = meansOfClient(caller.clientId);
    const asked = askedIn(id);
    // Without forms there is no person behind a response (D-220).
    if (asked === undefined || (!forms && !urls)) return;
    const { content, ...opened } = result ?? {};
    const response = forms ? { ...opened, content } : opened;
    const { offer } = caller;
    const taken = await takeLateResponse(this.#services, face, { ...asked, offer, response });
    if (taken === 'left') this.#parts.fanout.wake(topicOfAsk(offer.scope, asked.key));
  }

  async #begin(
    { caller, isOld, means }: Answering,
    { params, key }: { readonly params: JsonObject; readonly key: string | undefined },
  ): Promise<BegunCall> {
    const { name, arguments: given = {}, requestState } = params;
    if (typeof name !== 'string') return failMessage('INVALID_PARAMS', 'params.name: is missing.');
    if (!isObject(given)) {
      return failMessage('INVALID_PARAMS', 'params.arguments: must be an object.');
    }
    const { offer, waitMs } = caller;
    const face = faceCaller(caller);
    const first = { ms: waitMs, endsAtAsk: true, isLeft: false, opened: undefined };
    if (isOld || typeof requestState !== 'string') {
      const run = await carryOut(this.#services, face, { offer, name, given, key });
      if (name !== cancelTool) return { ...first, run };
      return { ...first, run, ms: Math.min(waitMs, cancelWaitMs), endsAtAsk: false };
    }
    face.requireScopes(...scopesOfTool(name));
    face.chargeRate();
    const run = await findRun(this.#services, offer, requestState);
    const { inputResponses } = params;
    if (!isObject(inputResponses) || !(means.forms || means.urls)) return { ...first, run };
    const taken = await takeForms(this.#services, face, { run, responses: inputResponses });
    const { sessionId, id: runId } = run;
    // As it is after the answer: until then the log shows what was asked.
    const now = await getRun(this.#services, offer.scope, { sessionId, runId });
    return { ...first, ...taken, run: now };
  }

  async #hold(answering: Answering, begun: BegunCall): Promise<Reply<'call_mcp'>> {
    const { caller: admitted, request } = answering.caller;
    const call = new WaitingCall(this.#parts, answering, begun);
    await this.#parts.streams.hold({
      caller: admitted,
      request: request.raw,
      ms: begun.opened === undefined ? begun.ms : Math.max(begun.ms, formMs),
      wait: (closing) => call.wait(closing),
    });
    const { result } = call;
    if (result === undefined) throw new Error('the wait has ended without a state');
    return json(answering.rpcId, result);
  }

  #stream(answering: Answering, begun: BegunCall): RawReply {
    const { caller } = answering.caller;
    const ids = { 'x-session-id': begun.run.sessionId, 'x-run-id': begun.run.id };
    const call = new WaitingCall(this.#parts, answering, begun);
    const { streams } = this.#parts;
    return {
      write: (response, base) =>
        streams.send(response, {
          caller,
          headers: { ...base, ...ids },
          follow: (reader) => call.stream(reader),
        }),
    };
  }
}

export function asItIs(result: object): object {
  return result;
}

function json(id: RpcId, result: object): Reply<'call_mcp'> {
  return { status: 200, body: { jsonrpc: '2.0', id, result } };
}

function meansIn(caller: McpCaller, { isOld, capabilities }: McpRequest): AskingMeans {
  if (!mayAnswer(caller)) return noMeans;
  return isOld ? meansOfClient(caller.clientId) : meansOf(capabilities);
}

function mayAnswer({ caller }: McpCaller): boolean {
  return caller.scopes.has('interactions:write');
}

function progressTokenIn({ _meta: meta }: JsonObject): RpcId | undefined {
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** What is wrong with a call is its result; what concerns the connection is thrown again. */
function problemOf(error: unknown): McpResult {
  if (error instanceof ToolProblem) return errorResult(error.message);
  if (!(error instanceof Refusal) || error instanceof Challenge) throw error;
  const { status } = errors[error.code];
  if (status === 401 || status === 429 || status >= 500) throw error;
  return errorResult(`${error.message} (${error.code})`);
}
