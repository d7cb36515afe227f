import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { refuse } from '../app/refusal.ts';
import type { MetricsPage } from '../ports/metrics.ts';
import { pageMethods } from './declared-paths.ts';
import { baseHeaders } from './response-headers.ts';

export const metricsPath = '/metrics';
const contentType = 'text/plain; version=0.0.4; charset=utf-8';
/** A request through a proxy is not local, even if the proxy runs on this machine. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;
const loopback = /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/;
const loopbackHost = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

export interface MetricsParts {
  readonly page: MetricsPage;
  /** Allows reading from any address. */
  readonly token: string | undefined;
  /** The server's own address. */
  readonly baseUrl: string;
}

type MetricsAccess = Pick<MetricsParts, 'token' | 'baseUrl'>;

/**
 * Serves the metrics to the operator, who is on this machine or has the token. All other callers get 404. The path is
 * not an operation of the API.
 */
export function mountMetrics(app: FastifyInstance, { page, ...access }: MetricsParts): void {
  app.route({
    method: pageMethods,
    url: metricsPath,
    async handler(request, reply) {
      if (!mayReadMetrics(request.raw, access)) refuse('not_found');
      const headers = { ...baseHeaders(undefined, request.id), 'content-type': contentType };
      return reply.headers(headers).send(await page.render());
    },
  });
}

export function mayReadMetrics(
  request: MetricsRequest,
  { token, baseUrl }: MetricsAccess,
): boolean {
  return isLocal(request, baseUrl) || hasToken(request, token);
}

interface MetricsRequest {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  readonly headers: IncomingMessage['headers'];
}

function isLocal({ socket, headers }: MetricsRequest, baseUrl: string): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    proxyHeaders.every((name) => headers[name] === undefined) &&
    isOwnHost(headers.host ?? '', baseUrl)
  );
}

/** Refuses a page in a browser on this machine that reached the server under a name of its own (DNS rebinding). */
function isOwnHost(host: string, baseUrl: string): boolean {
  const asked = URL.parse(`http://${host}`);
  if (asked === null) return false;
  return loopbackHost.test(asked.hostname) || host.toLowerCase() === new URL(baseUrl).host;
}

function hasToken({ headers }: MetricsRequest, token: string | undefined): boolean {
  const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined || given === undefined) return false;
  // Digests have equal lengths, so the comparison takes constant time.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
