import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '@convoke/contract';
import { returnFromService } from '../../app/connections/connecting.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import { connectCallbackPath } from '../../auth/connect-links.ts';
import { pageHeaders } from '../../auth/sign-in/page.ts';
import { messagePage } from '../../auth/sign-in/pages.ts';
import { networkOf } from '../../runtime/network-of.ts';
import { createRateLimit } from '../../runtime/rate-limit.ts';
import type { CallerAddress } from '../caller-address.ts';
import { routedMethods } from '../declared-paths.ts';
import { errorAnswer } from '../errors.ts';
import { HttpRefusal } from '../http-refusal.ts';
import { baseHeaders } from '../response-headers.ts';

type ReturnServices = Parameters<typeof returnFromService>[0] & Pick<Services, 'log' | 'metrics'>;

/**
 * Routes the address that services send browsers back to (D-606). It is no operation: services add parameters of their
 * own, and what it answers is for a person. A program that looks at links in advance sends no GET with the state of a
 * flow.
 */
export function mountConnectCallback(
  app: FastifyInstance,
  services: ReturnServices,
  { callerAddress }: { readonly callerAddress: CallerAddress },
): void {
  const perMinute = limits.connectReturnsPerMinute;
  const networks = createRateLimit(services.clock, { perMinute, burst: perMinute });
  app.route({
    method: [...routedMethods],
    url: connectCallbackPath,
    async handler(request, reply) {
      if ((request.raw.url ?? '').split('?')[0] !== connectCallbackPath) refuse('not_found');
      if (request.method !== 'GET') {
        throw new HttpRefusal('method_not_allowed', { headers: { allow: 'GET' } });
      }
      const allowance = networks.take(networkOf(callerAddress(request.raw)));
      if (!allowance.ok) refuse('rate_limited', allowance);
      const status = await sendBack(services, request, reply);
      services.metrics.requests.add(1, 'connect_callback', String(status));
    },
  });
}

async function sendBack(
  services: ReturnServices,
  { raw, id }: FastifyRequest,
  reply: FastifyReply,
): Promise<number> {
  const headers = { ...baseHeaders(undefined, id), ...pageHeaders };
  const send = (status: number, page: string) => {
    reply.code(status).headers(headers).send(page);
    return status;
  };
  try {
    const location = await returnFromService(services, sentBack(raw.url ?? ''));
    if (location === undefined) return send(400, endedPage);
    reply
      .code(303)
      .headers({ ...headers, 'referrer-policy': 'no-referrer', location })
      .send('');
    return 303;
  } catch (error) {
    return send(errorAnswer(error, { requestId: id }, services.log).status, failedPage);
  }
}

/** A parameter that is there twice counts as absent (RFC 6749 section 3.1). */
function sentBack(url: string) {
  // A code may contain a question mark, which a query need not encode (RFC 3986 section 3.4).
  const sent = new URLSearchParams(url.split('?').slice(1).join('?'));
  const once = (name: string) => {
    const [value, ...more] = sent.getAll(name);
    return more.length === 0 ? value : undefined;
  };
  return { state: once('state'), code: once('code'), iss: once('iss'), error: once('error') };
}

const endedPage = messagePage(
  'This link has ended',
  'It was used already, has expired, or was replaced by a newer one. Nothing was connected. ' +
    'Go back to the page where you started, and connect the account again.',
);

const failedPage = messagePage(
  'That did not work',
  'The server could not answer. Nothing was connected. ' +
    'Go back to the page where you started, and connect the account again.',
);
