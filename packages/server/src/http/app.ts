import type { IncomingMessage } from 'node:http';
import { limits, operationList } from '@convoke/contract';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Refusal } from '../app/refusal.ts';
import { timesSent } from '../auth/repeated-headers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import { type Binding, bindOperations, routePattern } from './bind.ts';
import { watchBodies } from './bodies/body-watch.ts';
import { DeclaredPaths, routedMethods } from './declared-paths.ts';
import { errorAnswer } from './errors.ts';
import type { Handlers } from './handler.ts';
import { writeJson } from './json-reply.ts';
import { answerMalformed } from './malformed.ts';
import { baseHeaders } from './response-headers.ts';
import { unroutedRefusal } from './unrouted.ts';

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
const isRouted: ReadonlySet<string> = new Set(routedMethods);
const notHttp1 = 'The request must be HTTP/1.1 with one Host header, or HTTP/1.0 with one at most.';
const requestIdPattern = /^[A-Za-z0-9-]{1,64}$/;

/** Creates the HTTP server, with one route per declared operation. */
export function createApp(parts: AppParts): FastifyInstance {
  const { handlers, clock, ids, log, metrics } = parts;
  const declared = new DeclaredPaths(operationList.filter(parts.serves));
  const refusalAt = (url: string) => unroutedRefusal(url, { app, declared });
  const malformed = { refusalAt, newRequestId: () => ids.next('req') };
  const app: FastifyInstance = fastify({
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
      // Refused below, with a body: Node answers without one.
      requireHostHeader: false,
    },
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && requestIdPattern.test(sent) ? sent : ids.next('req');
    },
    clientErrorHandler: (error, socket) => answerMalformed(error, socket, malformed),
    frameworkErrors: (_error, request, reply) => refuse(new Refusal('not_found'), request, reply),
  });
  app.addHook('onRequest', (request, reply, done) => {
    // The operation reads the body itself, after the gate: for Fastify no request has one.
    request.headers = withoutBody;
    const { raw, method } = request;
    if (!isHttp1(raw)) {
      refuse(new Refusal('invalid_request', { message: notHttp1 }), request, reply);
    } else if (isRouted.has(method)) done();
    // Here, because Fastify itself refuses some methods as a fault: QUERY without a media type.
    else if (!answerPreflight(request, reply, parts)) refuseUnrouted(request, reply);
  });
  watchBodies(app.server, clock);
  // An unknown `Expect` may be ignored (RFC 9110 section 10.1.1); Node would answer it without a body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });

  const refuse: Refuse = (error, request, reply) => {
    const answer = errorAnswer(error, { requestId: request.id }, log);
    metrics.requests.add(1, 'none', String(answer.status));
    metrics.refusals.add(1, String(answer.status), answer.body.error);
    reply.hijack();
    // Node reports a body that is not HTTP right after the head, in this same turn. Its answer is then the only one.
    process.nextTick(() => {
      if (request.raw.socket.writableEnded) return;
      writeJson(reply.raw, answer, baseHeaders(undefined, request.id));
    });
  };
  const refuseUnrouted = (request: FastifyRequest, reply: FastifyReply) =>
    refuse(refusalAt(request.url), request, reply);
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler(refuseUnrouted);
  bindOperations(app, handlers, parts);
  for (const { path, methods } of declared.shadows()) {
    app.route({ method: [...methods], url: routePattern(path), handler: refuseUnrouted });
  }
  return app;
}

/** RFC 9112 section 3.2: a request of HTTP/1.1 has exactly one Host header. */
function isHttp1({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = timesSent(rawHeaders, 'host');
  return httpVersion === '1.0' ? hosts <= 1 : httpVersion.startsWith('1.') && hosts === 1;
}

/** D-201: a browser asks before a page's request. False for any other request, which no operation declares. */
function answerPreflight(
  { id, raw }: FastifyRequest,
  reply: FastifyReply,
  { cors, metrics }: Pick<AppParts, 'cors' | 'metrics'>,
): boolean {
  const headers = cors.preflightHeaders(raw);
  if (headers === undefined) return false;
  metrics.requests.add(1, 'none', '204');
  reply.hijack();
  reply.raw.writeHead(204, { ...baseHeaders(undefined, id), ...headers }).end();
  return true;
}

function unused(): never {
  throw new Error('routes are declared by the contract and have no Fastify schema');
}

type Refuse = (
  error: unknown,
  request: Pick<FastifyRequest, 'id' | 'raw'>,
  reply: Parameters<Parameters<FastifyInstance['setErrorHandler']>[0]>[2],
) => void;
