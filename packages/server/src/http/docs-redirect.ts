import type { FastifyInstance } from 'fastify';
import { pageMethods } from './declared-paths.ts';
import { baseHeaders } from './response-headers.ts';

/** Redirects `/docs/`, which people type, to `/docs`. It is not an operation of the API. */
export function mountDocsRedirect(app: FastifyInstance): void {
  app.route({
    method: pageMethods,
    url: '/docs/',
    handler(request, reply) {
      const headers = { ...baseHeaders(undefined, request.id), location: '../docs' };
      return reply.code(308).headers(headers).send();
    },
  });
}
