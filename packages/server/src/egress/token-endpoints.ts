import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupAddress } from 'node:dns';
import { limits } from '@convoke/contract';
import { z } from 'zod';
import { type RefreshAnswer, answerMs } from '../domain/connections/refresh.ts';
import type { Clock } from '../ports/clock.ts';
import type { RefreshRequest, TokenEndpoints } from '../ports/connections/token-endpoints.ts';
import { type ChosenUrl, type ChosenUrls, chosenAddresses, problemOfUrl } from './chosen-urls.ts';
import { pinnedLookup } from './pinned-lookup.ts';

const { request: httpRequest } = process.getBuiltinModule('node:http');

const bodyBytesMax = 64 * 1024;

interface EndpointParts extends ChosenUrls {
  readonly clock: Clock;
}

/** Token endpoints of services, behind the guard that webhooks have (D-609). */
export function createTokenEndpoints(parts: EndpointParts): TokenEndpoints {
  const post = async ({ url, tenantId }: ChosenUrl, form: Form): Promise<RefreshAnswer> => {
    let addresses: readonly LookupAddress[];
    try {
      addresses = await chosenAddresses(new URL(url), tenantId, parts);
    } catch {
      return { kind: 'unavailable' };
    }
    return send({ url, form, addresses }, parts.clock);
  };
  return {
    problemOf: (endpoint) => problemOfUrl(endpoint, parts),
    refresh: (request) =>
      post(request, {
        grant_type: 'refresh_token',
        refresh_token: request.refreshToken,
        ...clientOf(request),
      }),
    redeem: (request) =>
      post(request, {
        grant_type: 'authorization_code',
        code: request.code,
        code_verifier: request.verifier,
        redirect_uri: request.redirectUri,
        ...clientOf(request),
      }),
  };
}

type Form = Readonly<Record<string, string>>;

function clientOf({
  clientId,
  clientSecret,
  resource,
}: Pick<RefreshRequest, 'clientId' | 'clientSecret' | 'resource'>): Form {
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(resource === undefined ? {} : { resource }),
  };
}

interface Sending {
  readonly url: string;
  readonly form: Form;
  readonly addresses: readonly LookupAddress[];
}

/**
 * Sends the one request of RFC 6749 section 6 or 4.1.3. Until a byte of it was written, a failure means that nothing
 * happened; after that, an answer that does not arrive may have used up the refresh token (D-599).
 */
function send({ url: text, form, addresses }: Sending, clock: Clock): Promise<RefreshAnswer> {
  const { promise, resolve } = Promise.withResolvers<RefreshAnswer>();
  const url = new URL(text);
  const isSecure = url.protocol === 'https:';
  const body = new URLSearchParams(form).toString();
  // No HTTP agent: requests share no connections, no setting of the process applies, and no redirect is followed.
  const call = (isSecure ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      'user-agent': 'Convoke',
    },
    lookup: pinnedLookup(addresses),
    agent: false,
  });
  let isConnected = false;
  const end = (answer: RefreshAnswer) => {
    cancelTimer();
    resolve(answer);
    call.destroy();
  };
  const failed = () => end({ kind: isConnected ? 'lost' : 'unavailable' });
  const cancelTimer = clock.after(answerMs, failed);
  call.once('socket', (socket) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      // Only now: what is buffered before would be sent by a connection that the timer no longer waits for.
      call.end(body);
    });
  });
  call.on('response', (answer) => readAnswer(answer, end));
  call.on('error', failed);
  call.flushHeaders();
  return promise;
}

function readAnswer(answer: IncomingMessage, end: (result: RefreshAnswer) => void): void {
  const { statusCode: status = 0 } = answer;
  if (status === 429 || status >= 500) return end({ kind: 'unavailable' });
  // A redirect is not followed: it would hand the refresh token to another host.
  if (status < 200 || status >= 300) return end({ kind: 'refused' });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const lost = () => end({ kind: 'lost' });
  answer.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bodyBytesMax) lost();
  });
  answer.once('end', () => end(tokenIn(Buffer.concat(chunks).toString('utf8'))));
  answer.once('error', lost);
  answer.once('aborted', lost);
}

const token = z
  .string()
  .min(limits.connectionSecretMinCharacters)
  .max(limits.connectionSecretMaxCharacters)
  .regex(/^[\x21-\x7e]+$/);
const tokenAnswer = z.looseObject({
  access_token: token,
  refresh_token: token.optional().catch(undefined),
  expires_in: z.coerce.number().positive().max(1e10).optional().catch(undefined),
  scope: z.string().max(limits.connectionScopeMaxCharacters).optional().catch(undefined),
});
const refusal = z.looseObject({ error: z.string() });

/** Some providers refuse with 200 and an `error`. */
function tokenIn(text: string): RefreshAnswer {
  const json = jsonIn(text);
  const parsed = tokenAnswer.safeParse(json);
  if (!parsed.success) return { kind: refusal.safeParse(json).success ? 'refused' : 'lost' };
  const { access_token, refresh_token, expires_in, scope } = parsed.data;
  return {
    kind: 'refreshed',
    token: {
      accessToken: access_token,
      refreshToken: refresh_token,
      expiresInSeconds: expires_in,
      scope,
    },
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
