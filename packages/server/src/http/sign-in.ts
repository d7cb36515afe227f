import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../app/refusal.ts';
import type { IdentityProvider } from '../auth/sign-in/identity-provider.ts';
import { peopleRoutes } from '../auth/sign-in/provider-settings.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import { type Rate, createRateLimit } from '../runtime/rate-limit.ts';
import type { CallerAddress } from './caller-address.ts';
import { errorAnswer } from './errors.ts';
import { writeJson } from './json-reply.ts';
import { baseHeaders } from './response-headers.ts';

/** Attempts to sign in, per person and address; the burst is what a person who mistypes needs. */
export const signInRate: Rate = { perMinute: 5, burst: 10 };
/** The same from all addresses together. */
export const signInPersonRate: Rate = { perMinute: 20, burst: 40 };

/** Beginning to sign in stores something for minutes before anybody proved anything: hence the bounds. */
const beginRate: Rate = { perMinute: 60, burst: 60 };
const beginTotalRate: Rate = { perMinute: 3_000, burst: 3_000 };
const beginnings: ReadonlySet<string> = new Set([
  peopleRoutes.authorization,
  peopleRoutes.code_verification,
  peopleRoutes.device_authorization,
  peopleRoutes.end_session,
]);

/**
 * Our own pages say what they need. The library has one of its own, which sends itself on; it adds the digest of
 * its script to `script-src`, which therefore has to be there.
 */
const policy =
  "default-src 'none'; script-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const discoveryPath = '/.well-known/openid-configuration';

export interface PeopleParts {
  readonly identityProvider: IdentityProvider;
  readonly callerAddress: CallerAddress;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'requests'>;
}

/**
 * Routes the pages and endpoints of the built-in identity provider. They are OpenID Connect's, not
 * operations of this API: what they take and answer is in that specification.
 */
export function mountPeople(app: FastifyInstance, parts: PeopleParts): void {
  const { identityProvider, callerAddress, clock, log, metrics } = parts;
  const perAddress = createRateLimit(clock, beginRate);
  const inTotal = createRateLimit(clock, beginTotalRate);

  function admitBeginning(address: string): void {
    const mine = perAddress.take(address);
    const allowance = mine.ok ? inTotal.take('') : mine;
    if (allowance.ok) return;
    refuse('rate_limited', { retryAfterSeconds: allowance.retryAfterSeconds });
  }

  async function handler({ raw, id }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const address = callerAddress(raw);
    const [path = ''] = (raw.url ?? '').split('?');
    if (beginnings.has(path)) admitBeginning(address);
    const response = reply.raw;
    const headers = { ...baseHeaders(undefined, id), 'content-security-policy': policy };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    // Some look for the document below the endpoints it names.
    if (path.endsWith(discoveryPath)) raw.url = discoveryPath;
    reply.hijack();
    try {
      await identityProvider.handle({ request: raw, response, requestId: id, address });
    } catch (error) {
      const answer = errorAnswer(error, { requestId: id }, log);
      if (response.headersSent) response.destroy();
      else writeJson(response, answer, headers);
    } finally {
      metrics.requests.add(1, 'sign_in', String(response.statusCode));
    }
  }

  app.route({ method: 'GET', url: discoveryPath, handler });
  app.route({ method: ['GET', 'POST'], url: '/oidc/*', handler });
}

/** Where people sign in when that is not here. */
export function pointToIssuer(app: FastifyInstance, issuer: string): void {
  const location = issuer.replace(/\/$/, '') + discoveryPath;
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    reply
      .code(302)
      .headers({ ...baseHeaders(undefined, request.id), location })
      .send();
  };
  app.route({ method: 'GET', url: discoveryPath, handler });
  app.route({ method: 'GET', url: `/oidc${discoveryPath}`, handler });
}
