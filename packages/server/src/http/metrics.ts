import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { refuse } from '../app/refusal.ts';
import type { MetricsPage } from '../ports/metrics.ts';
import { baseHeaders } from './response-headers.ts';

export const metricsPath = '/metrics';
const contentType = 'text/plain; version=0.0.4; charset=utf-8';
/** Whoever came through a proxy is not on this machine, wherever the proxy is. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;
const loopback = /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/;

export interface MetricsParts {
  readonly page: MetricsPage;
  /** Who shows it may read from anywhere. */
  readonly token: string | undefined;
}

/**
 * Not an operation of the API: it is for the operator, who is on this machine or has a token. For everybody else the
 * path does not exist.
 */
export function mountMetrics(app: FastifyInstance, { page, token }: MetricsParts): void {
  app.get(metricsPath, async (request, reply) => {
    if (!mayReadMetrics(request.raw, token)) refuse('not_found');
    const headers = { ...baseHeaders(undefined, request.id), 'content-type': contentType };
    return reply.headers(headers).send(await page.render());
  });
}

export function mayReadMetrics(asked: Asked, token: string | undefined): boolean {
  return isLocal(asked) || showsToken(asked, token);
}

interface Asked {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  readonly headers: IncomingMessage['headers'];
}

function isLocal({ socket, headers }: Asked): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    proxyHeaders.every((name) => headers[name] === undefined)
  );
}

function showsToken({ headers }: Asked, token: string | undefined): boolean {
  const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined || shown === undefined) return false;
  // Digests have one length, so comparing takes as long whatever is shown.
  return timingSafeEqual(digest(shown), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
