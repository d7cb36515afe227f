import type { Socket } from 'node:net';
import { limits } from '@convoke/contract';
import { type FastifyInstance, fastify } from 'fastify';
import { Refusal } from '../app/refusal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import { type Binding, bindOperations } from './bind.ts';
import { watchBody } from './bodies/body-watch.ts';
import { errorAnswer } from './errors.ts';
import type { Handlers } from './handler.ts';
import { HttpRefusal } from './http-refusal.ts';
import { writeJson } from './json-reply.ts';
import { metricsPath } from './metrics.ts';
import { baseHeaders } from './response-headers.ts';

export interface AppParts extends Binding {
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

const withoutBody = {
  'content-type': undefined,
  'content-length': undefined,
  'transfer-encoding': undefined,
};
const requestIdPattern = /^[A-Za-z0-9-]{1,64}$/;

/** Creates the HTTP server, with one route per declared operation. */
export function createApp(parts: AppParts): FastifyInstance {
  const { handlers, clock, ids, log, metrics } = parts;
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    // The handlers read bodies themselves: strictly, with their own bounds, or as a stream.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    // Requests that arrive while the server closes are still answered.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512 },
    // No route has a Fastify schema, so neither schema compiler is loaded.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // An upload may take long; a stalled header or an idle connection may not.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    http: {
      headersTimeout: 15_000,
      maxHeaderSize: limits.headersMaxBytes,
      connectionsCheckingInterval: 5_000,
    },
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && requestIdPattern.test(sent) ? sent : ids.next('req');
    },
    clientErrorHandler: (error, socket) => refuseMalformed(error, socket),
    frameworkErrors: (_error, request, reply) => refuse(new Refusal('not_found'), request, reply),
  });
  // The operation reads the body itself, after the gate: for Fastify no request has one.
  app.addHook('onRequest', (request, _reply, done) => {
    request.headers = withoutBody;
    done();
  });
  // First: also a body that no route reads is bounded.
  app.server.prependListener('request', (message) => watchBody(message, clock));
  // An unknown `Expect` may be ignored (RFC 9110 section 10.1.1); Node would answer it without a body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });

  const refuse: Refuse = (error, request, reply) => {
    const answer = errorAnswer(error, { requestId: request.id }, log);
    metrics.requests.add(1, 'none', String(answer.status));
    metrics.refusals.add(1, String(answer.status), answer.body.error);
    reply.hijack();
    writeJson(reply.raw, answer, baseHeaders(undefined, request.id));
  };
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const allow = methodsAt(app, request.url).join(', ');
    const known = () => new HttpRefusal('method_not_allowed', { headers: { allow } });
    refuse(allow === '' ? new Refusal('not_found') : known(), request, reply);
  });
  bindOperations(app, handlers, parts);
  return app;
}

function unused(): never {
  throw new Error('routes are declared by the contract and have no Fastify schema');
}

type Refuse = (
  error: unknown,
  request: { readonly id: string },
  reply: Parameters<Parameters<FastifyInstance['setErrorHandler']>[0]>[2],
) => void;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The methods that operations declare at this path, for `Allow` (RFC 9110 section 15.5.6). */
function methodsAt(app: FastifyInstance, url: string): readonly string[] {
  const path = url.split('?')[0] ?? '/';
  // The path must look unknown to callers that may not read the metrics.
  if (path === metricsPath) return [];
  return methods.filter((method) => app.findRoute({ method, url: path }) !== null);
}

const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT';
const notHttp = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };
const refusals: ReadonlyMap<string, typeof notHttp> = new Map([
  ['HPE_HEADER_OVERFLOW', { ...notHttp, status: '431 Request Header Fields Too Large' }],
  [
    timedOut,
    {
      status: '408 Request Timeout',
      message: 'The head of the request was not complete in time.',
    },
  ],
]);

/** Answers bytes that are not HTTP. There is no request, and so no request id. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // Nothing was asked. A client that picks this connection from its pool now would take an answer for that of its request.
  if (error.code === timedOut && socket.bytesRead === 0) return void socket.destroy();
  const { status, message } = refusals.get(error.code ?? '') ?? notHttp;
  const body = JSON.stringify({ error: 'invalid_request', message });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
