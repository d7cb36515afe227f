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

/** Sign-in attempts per person and address; the burst allows for typing errors. */
export const signInRate: Rate = { perMinute: 5, burst: 10 };
/** Sign-in attempts per person from all addresses together. */
export const signInPersonRate: Rate = { perMinute: 20, burst: 40 };

/** Starting a sign-in stores a record for minutes before the person is authenticated, so it is limited. */
const startRate: Rate = { perMinute: 60, burst: 60 };
const startTotalRate: Rate = { perMinute: 3_000, burst: 3_000 };
const startPaths: ReadonlySet<string> = new Set([
  peopleRoutes.authorization,
  peopleRoutes.code_verification,
  peopleRoutes.device_authorization,
  peopleRoutes.end_session,
]);

/**
 * For pages of the library; our own pages replace it. One of the library's pages submits itself with a script and adds
 * the digest of that script to `script-src`, which therefore must be present.
 */
const policy =
  "default-src 'none'; script-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const discoveryPath = '/.well-known/openid-configuration';

export interface SignInRouteParts {
  readonly identityProvider: IdentityProvider;
  readonly callerAddress: CallerAddress;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'requests'>;
}

/**
 * Routes the pages and endpoints of the built-in identity provider. They follow OpenID Connect and are not operations of
 * this API.
 */
export function mountSignInRoutes(app: FastifyInstance, parts: SignInRouteParts): void {
  const { identityProvider, callerAddress, clock, log, metrics } = parts;
  const perAddress = createRateLimit(clock, startRate);
  const inTotal = createRateLimit(clock, startTotalRate);

  function limitStart(address: string): void {
    const mine = perAddress.take(address);
    const allowance = mine.ok ? inTotal.take('') : mine;
    if (allowance.ok) return;
    refuse('rate_limited', { retryAfterSeconds: allowance.retryAfterSeconds });
  }

  async function handler({ raw, id }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const address = callerAddress(raw);
    const [path = ''] = (raw.url ?? '').split('?');
    if (startPaths.has(path)) limitStart(address);
    const response = reply.raw;
    const headers = { ...baseHeaders(undefined, id), 'content-security-policy': policy };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    // Some clients look for the document below `/oidc`.
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

/** Redirects discovery to the other issuer, where people sign in. */
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
