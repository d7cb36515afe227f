import type { IncomingMessage } from 'node:http';
import {
  type Operation,
  type OperationId,
  operationList,
  organizationId,
  statusOfError,
} from '@convoke/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../app/refusal.ts';
import type { Gate } from '../auth/gate.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Traces } from '../ports/traces.ts';
import { type RateLimits, admission } from './admission.ts';
import { abandonBody, readBody } from './body.ts';
import type { CallerAddress } from './caller-address.ts';
import type { Denials } from './denials.ts';
import { errorReply } from './errors.ts';
import type { Handlers, RawReply, RequestFacts } from './handler.ts';
import { readHeaders, readParams, readQuery, validateBody } from './input.ts';
import { baseHeaders } from './response-headers.ts';

export interface Binding {
  /** Which operations this server answers. */
  readonly serves: (operation: Operation) => boolean;
  readonly gate: Gate;
  readonly callerAddress: CallerAddress;
  readonly limits: RateLimits;
  readonly denials: Denials;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly traces: Traces;
}

/** Any handler, seen from the router: the types were checked where the handlers were put together. */
type AnyHandler = (call: unknown) => Promise<AnyReply> | AnyReply;
type AnyReply =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | RawReply;

/** Makes a route of every declared operation. Nothing else is routed: what is not declared is denied. */
export function bindOperations(app: FastifyInstance, handlers: Handlers, binding: Binding): void {
  for (const operation of operationList) {
    if (!binding.serves(operation)) continue;
    const handler = handlers[operation.id as OperationId] as AnyHandler;
    app.route({
      method: operation.method,
      url: routePattern(operation.path),
      handler: (request, reply) => observed(request, reply, { operation, handler, binding }),
    });
  }
}

/** `{id}:verb` must not swallow the verb, so the parameter before a colon stops at it. */
function routePattern(path: string): string {
  return path.replace(/\{(\w+)\}(:?)/g, (_, name: string, colon: string) =>
    colon === '' ? `:${name}` : `:${name}([^:/]+)::`,
  );
}

interface Bound {
  readonly operation: Operation;
  readonly handler: AnyHandler;
  readonly binding: Binding;
}

/** Counts and traces a request, whatever becomes of it. */
function observed(request: FastifyRequest, reply: FastifyReply, bound: Bound): Promise<void> {
  const { operation, binding } = bound;
  const attributes = {
    'http.request.method': operation.method,
    'http.route': operation.path,
    'convoke.operation': operation.id,
    'convoke.request_id': request.id,
  };
  const start = { name: `${operation.method} ${operation.path}`, attributes };
  return binding.traces.within({ ...start, of: { request: request.raw.headers } }, async (span) => {
    await serve(request, reply, bound);
    const status = statusOf(reply);
    binding.metrics.requests.add(1, operation.id, String(status));
    span.note('http.response.status_code', status);
    if (status >= 500) span.fail();
  });
}

/** 0 when the client left before there was an answer. */
function statusOf(reply: FastifyReply): number {
  if (reply.raw.headersSent) return reply.raw.statusCode;
  return reply.raw.destroyed ? 0 : reply.statusCode;
}

async function serve(request: FastifyRequest, reply: FastifyReply, bound: Bound): Promise<void> {
  const { operation, handler, binding } = bound;
  const { metrics } = binding;
  const began = metrics.seconds();
  const headers: Record<string, string> = baseHeaders(operation, request.id);
  try {
    const call = await readCall(request, bound, headers);
    const answer = await handler(call);
    metrics.requestSeconds.observe(metrics.seconds() - began, operation.id);
    if ('write' in answer) {
      reply.hijack();
      await answer.write(reply.raw, headers);
      return;
    }
    const payload = answer.body === undefined ? undefined : JSON.stringify(answer.body);
    if (payload !== undefined) headers['content-type'] = 'application/json; charset=utf-8';
    reply
      .code(answer.status)
      .headers(headers)
      .headers(answer.headers ?? {})
      .send(payload);
  } catch (error) {
    // Nobody is left to answer: a cut upload or download is the client's own doing, not a fault.
    if (request.raw.destroyed && !request.raw.complete) return void reply.hijack();
    if (reply.raw.destroyed) return;
    metrics.requestSeconds.observe(metrics.seconds() - began, operation.id);
    refuseRequest(error, { request, reply, operation, headers, binding });
  }
}

/** The order of D-52: token, selectors, access, then the request's own shape. */
async function readCall(request: FastifyRequest, bound: Bound, headers: Record<string, string>) {
  const { operation, binding } = bound;
  const raw: IncomingMessage = request.raw;
  const rawParams = request.params as Readonly<Record<string, string>>;
  const facts = { id: request.id, address: binding.callerAddress(raw), raw };
  const caller = await countDecision(
    authorize(operation, facts, { binding, rawParams }),
    operation,
    binding.metrics,
  );
  const admit = admission(operation, caller, { limits: binding.limits, headers });
  const query = readQuery(operation, request.url);
  const sent = readHeaders(operation, raw.headers);
  const value = await readBody(operation, raw);
  // A form's parameters are the token endpoint's to judge: its errors are OAuth's (RFC 6749 §5.2).
  const isChecked = operation.body !== undefined && operation.content !== 'form';
  const body = isChecked ? validateBody(operation.body, value) : value;
  // Last: what is wrong with the request is told before what is not there.
  const params = readParams(operation, rawParams);
  return { params, query, headers: sent, body, caller, request: facts, admit };
}

async function countDecision<Caller>(
  gate: Promise<Caller>,
  operation: Operation,
  { gateDecisions }: Metrics,
): Promise<Caller> {
  try {
    const caller = await gate;
    if (caller !== undefined) gateDecisions.add(1, '200', 'allowed');
    return caller;
  } catch (error) {
    if (error instanceof Refusal) {
      gateDecisions.add(1, String(statusOfError(operation, error.code)), error.code);
    }
    throw error;
  }
}

async function authorize(
  operation: Operation,
  facts: RequestFacts,
  { binding, rawParams }: { binding: Binding; rawParams: Readonly<Record<string, string>> },
) {
  const { gate, denials } = binding;
  const { raw } = facts;
  switch (operation.caller) {
    case 'automation':
      return gate.admitAutomation(operation, raw);
    case 'human': {
      const organization = organizationId(rawParams['organization_id'] ?? '');
      return gate.admitHuman(raw, organization).catch(async (error: unknown) => {
        await denials.record(error, { operation, organization, facts });
        throw error;
      });
    }
    case 'any':
      return gate.admitAny(raw);
    case 'anonymous':
      return undefined;
    default:
      return operation.caller satisfies never;
  }
}

interface FailedCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly operation: Operation;
  readonly headers: Readonly<Record<string, string>>;
  readonly binding: Binding;
}

function refuseRequest(
  error: unknown,
  { request, reply, operation, headers, binding }: FailedCall,
): void {
  abandonBody(request.raw);
  const answer = errorReply(error, { requestId: request.id, operation }, binding.log);
  binding.metrics.refusals.add(1, String(answer.status), answer.code);
  const merged = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    ...answer.headers,
  };
  if (reply.raw.headersSent) {
    reply.raw.destroy();
  } else if (reply.sent) {
    reply.raw.writeHead(answer.status, merged).end(answer.body);
  } else {
    reply.code(answer.status).headers(merged).send(answer.body);
  }
}
