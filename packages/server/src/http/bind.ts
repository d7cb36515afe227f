import type { ServerResponse } from 'node:http';
import {
  type Operation,
  type OperationId,
  limits,
  operationList,
  organizationId,
  statusOfError,
} from '@convoke/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, refuse } from '../app/refusal.ts';
import type { Gate } from '../auth/gate.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Span, Traces } from '../ports/traces.ts';
import {
  type RateLimits,
  onlyReplay,
  replayMaxBytes,
  requireKey,
  takeFromNetwork,
  takeFromRate,
} from './admission.ts';
import type { AnswersUnderWay } from './answers/answers-under-way.ts';
import { arrayFields } from './bodies/array-fields.ts';
import { abandonBody, readBody } from './bodies/body.ts';
import type { CallerAddress } from './caller-address.ts';
import type { Cors } from './answers/cors.ts';
import { methodsOf, pathsOf } from './declared-paths.ts';
import type { Denials } from './denials.ts';
import { errorAnswer } from './errors.ts';
import type { Handlers, RawReply, RequestFacts } from './handler.ts';
import { type BodySchema, readHeaders, readParams, readQuery, validateBody } from './input.ts';
import { type JsonAnswer, writeJson } from './json-reply.ts';
import { baseHeaders } from './response-headers.ts';

export interface Binding {
  /** Whether this server answers the operation. */
  readonly serves: (operation: Operation) => boolean;
  readonly gate: Gate;
  readonly callerAddress: CallerAddress;
  readonly cors: Cors;
  readonly limits: RateLimits;
  readonly proofs: PathProofs;
  readonly denials: Denials;
  readonly answers: AnswersUnderWay;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly traces: Traces;
}

type RawParams = Readonly<Record<string, string>>;

/** Of operations without a login whose path is the proof (D-910). */
export type PathProofs = Readonly<Partial<Record<OperationId, PathProof>>>;

export interface PathProof {
  /**
   * Whether it is right. Asked before the body is read, so that only who has such a URL can have a large body parsed.
   */
  isRight(params: RawParams): boolean;
  /** Throws the error of a request that is refused, or hides it: a URL that is over says nothing of the request. */
  explain(error: unknown, params: RawParams): Promise<never>;
}

/** Any handler, as the router sees it: the composition of the handlers checked their types. */
type AnyHandler = (call: unknown) => Promise<AnyReply> | AnyReply;
type AnyReply = JsonAnswer | RawReply;

/** Adds a route for every declared operation. Nothing else is routed, so an undeclared path is denied. */
export function bindOperations(app: FastifyInstance, handlers: Handlers, binding: Binding): void {
  for (const operation of operationList) {
    if (!binding.serves(operation)) continue;
    const handler = handlers[operation.id as OperationId] as AnyHandler;
    const name = `${operation.method} ${operation.path}`;
    const bound = { operation, name, handler, binding, body: checkedBody(operation) };
    for (const path of pathsOf(operation)) {
      app.route({
        method: [...methodsOf(operation)],
        url: routePattern(path),
        handler: (request, reply) => trace(request, reply, bound),
      });
    }
  }
}

/** The token endpoint checks the parameters of a form itself, with the errors of RFC 6749 §5.2. */
function checkedBody(operation: Operation): BodySchema | undefined {
  const { body: schema, content } = operation;
  if (schema === undefined || content === 'form') return undefined;
  return { schema, arrays: arrayFields(operation) };
}

/**
 * The path for the router, which reads `::` as a colon. In `{id}:verb` the parameter ends before the colon, so that it
 * does not include the verb.
 */
export function routePattern(path: string): string {
  return path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(:?)/g, (_, name: string, colon: string) =>
      colon === '' ? `:${name}` : `:${name}([^:/]+)${colon}`,
    );
}

interface BoundOperation {
  readonly operation: Operation;
  /** Of the operation, in traces. */
  readonly name: string;
  readonly handler: AnyHandler;
  readonly binding: Binding;
  /** Absent where the handler reads what was sent. */
  readonly body: BodySchema | undefined;
}

/** Serves a request within a span. */
function trace(request: FastifyRequest, reply: FastifyReply, bound: BoundOperation): Promise<void> {
  const { operation, name, binding } = bound;
  const attributes = {
    'http.request.method': request.method,
    'http.route': operation.path,
    'convoke.operation': operation.id,
    'convoke.request_id': request.id,
  };
  const parent = { request: request.raw.headers };
  return binding.traces.within({ name, parent, attributes }, (span) =>
    serve({ request, reply, span, bound }),
  );
}

interface ServedRequest {
  readonly bound: BoundOperation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly span: Span;
}

/** Writes the answer, or the error that a step threw. Then counts the request and ends its span with the status. */
async function serve(served: ServedRequest): Promise<void> {
  const { request, reply, span, bound } = served;
  const { operation, binding } = bound;
  const { metrics } = binding;
  const began = metrics.seconds();
  const headers: Record<string, string> = {
    ...baseHeaders(operation, request.id),
    ...binding.cors.answerHeaders(operation, request.raw),
  };
  // Fastify routes only: every response, of whatever kind, is written to the raw stream.
  reply.hijack();
  try {
    const begun = await begin(served, headers, began);
    if (begun !== undefined) await begun.written;
  } catch (error) {
    // A client that has disconnected gets none: a cut upload or download is its own doing, not a fault.
    const isCut = request.raw.destroyed && !request.raw.complete;
    if (!isCut && !reply.raw.destroyed) {
      metrics.requestSeconds.observe(metrics.seconds() - began, operation.id);
      answerError(error, { request, response: reply.raw, operation, headers, binding });
    }
  }
  const status = statusOf(reply);
  metrics.requests.add(1, operation.id, String(status));
  span.note('http.response.status_code', status);
  if (status >= 500) span.fail();
}

/** 0 when the client disconnected before there was an answer. */
function statusOf(reply: FastifyReply): number {
  if (reply.raw.headersSent) return reply.raw.statusCode;
  return reply.raw.destroyed ? 0 : reply.statusCode;
}

/**
 * Reads the call, runs its handler and writes the answer. Starts a streaming reply without awaiting it (the promise is
 * wrapped in an object), so that the parsed call can be freed while the stream stays open.
 */
async function begin(
  served: ServedRequest,
  headers: Record<string, string>,
  began: number,
): Promise<{ readonly written: Promise<void> } | undefined> {
  const { request, reply, bound } = served;
  const { operation, handler, binding } = bound;
  const { metrics } = binding;
  const admitted = await admitCall(request, bound, headers);
  const work = async () => handler(await readProven(request, bound, admitted));
  const answer = await (admitted.isOverRate ? onlyReplay(work) : work());
  metrics.requestSeconds.observe(metrics.seconds() - began, operation.id);
  if ('write' in answer) return { written: answer.write(reply.raw, headers) };
  const sending = { caller: admitted.caller, headers, isRead: isRead(operation) };
  const written = binding.answers.write(reply.raw, answer, sending);
  return written && { written };
}

/** Whether a caller that has not read its earlier answers is refused. People are limited in changes only (D-68). */
function isRead({ method, caller }: Operation): boolean {
  return method === 'GET' && caller === 'automation';
}

/**
 * Checks in the order of D-52: token, selectors, access, then the rate. A proof in the path comes behind the rate of
 * the network, so that guesses are counted. Nothing of the body is read.
 */
async function admitCall(
  request: FastifyRequest,
  { operation, binding }: BoundOperation,
  headers: Record<string, string>,
) {
  const { raw } = request;
  const rawParams = request.params as RawParams;
  const facts: RequestFacts = { id: request.id, address: binding.callerAddress(raw), raw };
  const caller = await authorize(operation, facts, { binding, rawParams });
  if (isRead(operation)) binding.answers.admit(caller);
  takeFromNetwork(operation, facts.address, binding.limits.networks);
  if (binding.proofs[operation.id as OperationId]?.isRight(rawParams) === false)
    refuse('not_found');
  const rate = await takeFromRate(operation, caller, { rates: binding.limits, headers });
  return { caller, facts, rawParams, ...rate };
}

/** Reads the request. What is wrong with it is hidden where the URL is over. */
function readProven(
  request: FastifyRequest,
  bound: BoundOperation,
  admitted: AdmittedCall,
): ReturnType<typeof readCall> {
  const read = readCall(request, bound, admitted);
  const proof = bound.binding.proofs[bound.operation.id as OperationId];
  if (proof === undefined) return read;
  return read.catch((error: unknown) => proof.explain(error, admitted.rawParams));
}

type AdmittedCall = Awaited<ReturnType<typeof admitCall>>;

/** Reads the request and checks its shape. */
async function readCall(
  request: FastifyRequest,
  bound: BoundOperation,
  { caller, facts, rawParams, isOverRate, chargeRate }: AdmittedCall,
) {
  const { operation } = bound;
  const { raw } = facts;
  const query = readQuery(operation, request.url);
  const sent = readHeaders(operation, raw);
  const most = bodyMaxBytes(operation, caller);
  const mostNow = isOverRate ? Math.min(most, replayMaxBytes(operation, raw.headers)) : most;
  const value = await readBody(operation, raw, mostNow);
  if (isOverRate) requireKey(raw.headers, value);
  const body = bound.body === undefined ? value : validateBody(bound.body, value);
  // Last: a malformed request is reported before a missing resource.
  const params = readParams(operation, rawParams);
  requireOwnSession(caller, rawParams);
  return { params, query, headers: sent, body, caller, request: facts, chargeRate };
}

/** The largest body of the operation, and a smaller one for a page (D-461). */
function bodyMaxBytes(operation: Operation, caller: SessionCaller | undefined): number {
  const most = operation.maxBytes ?? limits.bodyMaxBytes;
  return caller?.session === undefined ? most : Math.min(most, limits.sessionBodyMaxBytes);
}

interface SessionCaller {
  readonly subject: string;
  readonly session?: { readonly id: string } | undefined;
}

/** D-198: for a token of one session, any other session is one that does not exist. */
function requireOwnSession(
  caller: SessionCaller | undefined,
  rawParams: Admitting['rawParams'],
): void {
  const own = caller?.session?.id;
  const named = rawParams['session_id'];
  if (own !== undefined && named !== undefined && named !== own) refuse('not_found');
}

/** Asks the gate, and counts its decisions. */
async function authorize(operation: Operation, facts: RequestFacts, asked: Admitting) {
  const { gateDecisions } = asked.binding.metrics;
  try {
    const caller = await admit(operation, facts, asked);
    if (caller !== undefined) gateDecisions.add(1, '200', 'allowed');
    return caller;
  } catch (error) {
    if (error instanceof Refusal) {
      gateDecisions.add(1, String(statusOfError(operation, error.code)), error.code);
    }
    throw error;
  }
}

interface Admitting {
  readonly binding: Binding;
  readonly rawParams: RawParams;
}

function admit(operation: Operation, facts: RequestFacts, { binding, rawParams }: Admitting) {
  const { gate, denials } = binding;
  const { raw } = facts;
  switch (operation.caller) {
    case 'automation':
      return gate.admitApplication(operation, raw, rawParams);
    case 'human': {
      const organization = organizationId(rawParams['organization_id'] ?? '');
      return gate.admitHuman(raw, organization).catch(async (error: unknown) => {
        await denials.record(error, { operation, organization, facts });
        throw error;
      });
    }
    case 'any':
      return gate.admitAny(raw, operation);
    case 'anonymous':
      return undefined;
    default:
      return operation.caller satisfies never;
  }
}

interface FailedCall {
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
  readonly operation: Operation;
  readonly headers: Readonly<Record<string, string>>;
  readonly binding: Binding;
}

function answerError(error: unknown, failed: FailedCall): void {
  const { request, response, operation, headers, binding } = failed;
  abandonBody(request.raw);
  const answer = errorAnswer(error, { requestId: request.id, operation }, binding.log);
  binding.metrics.refusals.add(1, String(answer.status), answer.body.error);
  // Too late for another status: a broken connection shows that the answer is incomplete.
  if (response.headersSent) response.destroy();
  else writeJson(response, answer, headers);
}
