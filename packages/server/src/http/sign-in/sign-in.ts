import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../app/refusal.ts';
import type { IdentityProvider } from '../../auth/sign-in/identity-provider.ts';
import {
  accountPath,
  consentPath,
  cookieNames,
  joinedPath,
  linkPath,
  peopleRoutes,
  registrationPath,
  signInPath,
} from '../../auth/sign-in/provider-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { CallerAddress } from '../caller-address.ts';
import { pageMethods, routedMethods } from '../declared-paths.ts';
import { errorAnswer } from '../errors.ts';
import { HttpRefusal } from '../http-refusal.ts';
import { writeJson } from '../json-reply.ts';
import { baseHeaders } from '../response-headers.ts';
import { type SignInCost, createSignInLimits } from './sign-in-limits.ts';

/**
 * For pages of the library; our own pages replace it. One of the library's pages submits itself with a script and adds
 * the digest of that script to `script-src`, which therefore must be present.
 */
const policy =
  "default-src 'none'; script-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const discoveryPath = '/.well-known/openid-configuration';

export interface SignInRouteParts {
  readonly baseUrl: string;
  readonly hasRegistration: boolean;
  readonly identityProvider: IdentityProvider;
  readonly callerAddress: CallerAddress;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'requests'>;
}

interface Door {
  readonly method: 'GET' | 'POST';
  /** Exact, or ending in `/:uid`: the id of one sign-in. */
  readonly path: string;
  readonly cost: SignInCost;
}

const routes = peopleRoutes;

/** Every request that the identity provider answers. All others end here: the library accepts several spellings. */
export const signInDoors: readonly Door[] = [
  { method: 'GET', path: discoveryPath, cost: 'call' },
  { method: 'GET', path: routes.authorization, cost: 'start' },
  { method: 'GET', path: `${routes.authorization}/:uid`, cost: 'call' },
  { method: 'POST', path: routes.device_authorization, cost: 'start' },
  { method: 'GET', path: routes.code_verification, cost: 'start' },
  { method: 'POST', path: routes.code_verification, cost: 'code' },
  { method: 'GET', path: `${routes.code_verification}/:uid`, cost: 'call' },
  { method: 'POST', path: routes.token, cost: 'call' },
  { method: 'POST', path: routes.revocation, cost: 'call' },
  { method: 'GET', path: routes.end_session, cost: 'start' },
  { method: 'POST', path: `${routes.end_session}/confirm`, cost: 'call' },
  { method: 'GET', path: `${routes.end_session}/success`, cost: 'call' },
  { method: 'GET', path: `${signInPath}/:uid`, cost: 'call' },
  { method: 'POST', path: `${signInPath}/:uid`, cost: 'call' },
  { method: 'GET', path: `${consentPath}/:uid`, cost: 'call' },
  { method: 'POST', path: `${consentPath}/:uid`, cost: 'call' },
  { method: 'GET', path: `${linkPath}/:uid`, cost: 'call' },
  { method: 'POST', path: `${linkPath}/:uid`, cost: 'code' },
  { method: 'POST', path: joinedPath, cost: 'code' },
  { method: 'GET', path: accountPath, cost: 'call' },
  { method: 'POST', path: accountPath, cost: 'call' },
];

/** For assistants without a document about themselves. */
const registrationDoor: Door = { method: 'POST', path: registrationPath, cost: 'register' };

/**
 * Routes the pages and endpoints of the built-in identity provider. They follow OpenID Connect and are not operations
 * of this API. Each request is matched exactly and taken off the limits of its network before the provider sees it.
 */
export function mountSignInRoutes(app: FastifyInstance, parts: SignInRouteParts): void {
  const takeOff = createSignInLimits(parts.clock);
  const sessionCookie = new RegExp(`(^|;\\s*)${cookieNames(parts.baseUrl).session}=[^;]`);
  /** D-150: a silent renewal, with the cookie of a session. Without the cookie it is a beginning like any other. */
  const isRenewal = ({ path }: Door, { url = '', headers }: FastifyRequest['raw']) => {
    if (path !== routes.authorization) return false;
    const asked = new URLSearchParams(url.split('?')[1] ?? '').getAll('prompt');
    return asked.join() === 'none' && sessionCookie.test(headers.cookie ?? '');
  };
  const open = parts.hasRegistration ? [...signInDoors, registrationDoor] : signInDoors;
  for (const path of new Set(open.map((door) => door.path))) {
    const exact = exactPath(path);
    const doors = open.filter((door) => door.path === path);
    app.route({
      // All methods: the router would find a method missing also for a spelling that does not exist.
      method: [...routedMethods],
      url: path,
      handler(request, reply) {
        const [asked = ''] = (request.raw.url ?? '').split('?');
        // Fastify decodes the path, and takes an absolute URL for it.
        if (!exact.test(asked)) refuse('not_found');
        // HEAD is answered as GET is, and costs the same.
        const asking = request.method === 'HEAD' ? 'GET' : request.method;
        const door = doors.find(({ method }) => method === asking);
        if (door === undefined) return refuseMethod(doors);
        const cost = isRenewal(door, request.raw) ? 'renew' : door.cost;
        takeOff(cost, parts.callerAddress(request.raw));
        return passOn(request, reply, parts);
      },
    });
  }
}

function refuseMethod(doors: readonly Door[]): never {
  const allow = doors.flatMap(({ method }) => (method === 'GET' ? pageMethods : [method]));
  throw new HttpRefusal('method_not_allowed', { headers: { allow: allow.join(', ') } });
}

function exactPath(path: string): RegExp {
  const text = path.replaceAll('.', String.raw`\.`).replace(/:uid$/, '[A-Za-z0-9_-]{1,64}');
  return new RegExp(`^${text}$`);
}

async function passOn(
  { raw, id }: FastifyRequest,
  reply: FastifyReply,
  { identityProvider, callerAddress, log, metrics }: SignInRouteParts,
): Promise<void> {
  const response = reply.raw;
  const headers = { ...baseHeaders(undefined, id), 'content-security-policy': policy };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  reply.hijack();
  try {
    const address = callerAddress(raw);
    await identityProvider.handle({ request: raw, response, requestId: id, address });
  } catch (error) {
    const answer = errorAnswer(error, { requestId: id }, log);
    if (response.headersSent) response.destroy();
    else writeJson(response, answer, headers);
  } finally {
    metrics.requests.add(1, 'sign_in', String(response.statusCode));
  }
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
  app.route({ method: pageMethods, url: discoveryPath, handler });
}
