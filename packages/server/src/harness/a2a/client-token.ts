import type { AgentCard } from '@a2a-js/sdk';
import { z } from 'zod';
import { Unreachable } from '../../egress/unreachable.ts';
import type { Clock } from '../../ports/clock.ts';

/** An OAuth client of the remote side. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

export interface TokenParts {
  readonly credentials: ClientCredentials;
  readonly tokenUrl: string;
  readonly clock: Clock;
  /** Called with each token before its first use. */
  readonly onToken: (token: string) => void;
}

/** A token this close to its end is replaced before the next request. */
const marginMs = 30_000;
/** RFC 6749 leaves the lifetime out where the parties know it: here it is asked for again soon. */
const defaultSeconds = 300;

const tokenResponse = z.looseObject({
  // RFC 6750 section 2.1.
  access_token: z.string().regex(/^[\w.~+/-]{1,8192}=*$/),
  expires_in: z.number().positive().max(Number.MAX_SAFE_INTEGER).nullish(),
});

/**
 * The address where the card says that client credentials are exchanged for a token. A card may have no schemes at all.
 */
export function tokenUrlOf({ securitySchemes = {} }: Partial<AgentCard>): string | undefined {
  for (const { scheme } of Object.values(securitySchemes)) {
    if (scheme?.$case !== 'oauth2SecurityScheme') continue;
    const flow = scheme.value.flows?.flow;
    if (flow?.$case === 'clientCredentials') return flow.value.tokenUrl;
  }
  return undefined;
}

/** `fetch` with the token of a client, which is issued before the first request and replaced before it expires. */
export function withClientToken(send: typeof fetch, parts: TokenParts): typeof fetch {
  let issued: Promise<IssuedToken> | undefined;
  const tokenNow = async () => {
    const known = await issued;
    if (known !== undefined && known.endsAt - parts.clock.now() > marginMs) return known.value;
    issued = issue(send, parts);
    // A refusal is not remembered: the next request asks again.
    issued.catch(() => (issued = undefined));
    return (await issued).value;
  };
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('authorization', `Bearer ${await tokenNow()}`);
    return send(request);
  };
}

interface IssuedToken {
  readonly value: string;
  readonly endsAt: number;
}

async function issue(send: typeof fetch, parts: TokenParts): Promise<IssuedToken> {
  const { credentials, tokenUrl, clock, onToken } = parts;
  // RFC 6749 section 2.3.1: both are form-encoded before they are joined.
  const pair = [credentials.id, credentials.secret].map(encodeURIComponent).join(':');
  const askedAt = clock.now();
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const read = tokenResponse.safeParse(response.ok ? await response.json().catch(() => ({})) : {});
  if (!read.success) {
    const { origin } = new URL(tokenUrl);
    throw new Unreachable(`${origin} issued no token (${response.status})`);
  }
  const { access_token: value, expires_in: seconds } = read.data;
  onToken(value);
  return { value, endsAt: askedAt + (seconds ?? defaultSeconds) * 1000 };
}
