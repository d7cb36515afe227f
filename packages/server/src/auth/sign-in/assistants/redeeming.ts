import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Provider } from 'oidc-provider';
import type { TokenResponse } from '@convoke/contract';
import { z } from 'zod';
import type { TokenForm } from '../../tokens/client-authentication.ts';
import { refuseToken } from '../../tokens/token-refusal.ts';
import { peopleRoutes } from '../provider-settings.ts';

// An import would read all that the module exports, and load the client behind `fetch` with it.
const http = process.getBuiltinModule('node:http');

/** Grants of the API's token endpoint that the identity provider answers (D-620). */
export const redeemedGrants = ['authorization_code', 'refresh_token'] as const;

export function isRedeemed(grantType: string | undefined): boolean {
  return redeemedGrants.some((grant) => grant === grantType);
}

/** The answer of the library, instead of writing it. */
export interface TokenAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * A request of the library's token endpoint, made of a form that was read already. Neither belongs to a connection: the
 * library may set headers, and nothing is written.
 */
export function tokenExchangeOf(form: TokenForm) {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    if (typeof value === 'string') sent.set(name, value);
  }
  const body = Buffer.from(sent.toString());
  const request = new http.IncomingMessage(new Socket());
  request.method = 'POST';
  request.url = peopleRoutes.token;
  request.headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    accept: 'application/json',
  };
  request.push(body);
  request.push(null);
  return { request, response: new http.ServerResponse(request) };
}

/** Hands the library's answer to `take`, for the requests that it knows. */
export function takeTokenAnswers(
  provider: Provider,
  answers: WeakMap<IncomingMessage, (answer: TokenAnswer) => void>,
): void {
  provider.use(async (context, next) => {
    await next();
    const take = answers.get(context.req);
    if (take === undefined) return;
    context.respond = false;
    take({ status: context.status, body: context.body });
  });
}

const granted = z.object({
  access_token: z.string(),
  expires_in: z.int(),
  scope: z.string(),
  refresh_token: z.string().optional(),
});
const refusal = z.object({ error: z.string(), error_description: z.string().optional() });

const knownErrors = ['invalid_client', 'invalid_grant', 'invalid_scope', 'invalid_target'] as const;

/** In the form of every other answer of the token endpoint. */
export function tokenResponseOf(answer: TokenAnswer | undefined): TokenResponse {
  if (answer === undefined) throw new Error('the identity provider has not answered');
  const { status, body } = answer;
  if (status === 200) return { token_type: 'Bearer', ...granted.parse(body) };
  const refused = refusal.safeParse(body);
  if (!refused.success || status >= 500) throw new Error('the identity provider has failed');
  const { error, error_description: said } = refused.data;
  const code = knownErrors.find((known) => known === error) ?? 'invalid_request';
  return refuseToken(code, said);
}
