import type { FastifyInstance } from 'fastify';
import { connectClient, connectClientPath } from '../../auth/connect-links.ts';
import { pageMethods } from '../declared-paths.ts';
import { baseHeaders } from '../response-headers.ts';

/**
 * Routes the document that services read to know this server as their client (D-1070). It is no operation: it is part
 * of signing in at services, as the address is that they return to.
 */
export function mountConnectClient(
  app: FastifyInstance,
  { baseUrl }: { readonly baseUrl: string },
): void {
  const document = JSON.stringify(connectClient(baseUrl));
  app.route({
    method: pageMethods,
    url: connectClientPath,
    handler(request, reply) {
      reply
        .headers({
          ...baseHeaders(undefined, request.id),
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'public, max-age=300',
        })
        .send(document);
    },
  });
}
