import { createHash, randomBytes } from 'node:crypto';
import { operations } from '@convoke/contract';
import type { Answer } from '../checked-calls.ts';
import type { TestServer } from '../server.ts';
import { mcpUrl, redirectUrl } from './assistants.ts';

/** The requests that an assistant makes while a person signs in, written by hand: to send what no package would. */

const verifier = randomBytes(32).toString('base64url');

export type Change = Readonly<Record<string, string | undefined>>;

/** The page to which an assistant sends a person, with some parameters changed or, where undefined, left out. */
export function authorizationUrl(
  server: TestServer,
  clientId: string,
  change: Change = {},
): string {
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUrl,
    scope: 'agents:read runs:read sessions:write runs:write interactions:write',
    resource: mcpUrl(server),
    state: 'state-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...change,
  };
  return `${server.baseUrl}/oidc/auth?${formOf(fields).toString()}`;
}

/** Asks the API's token endpoint. */
async function askToken(server: TestServer, fields: Change): Promise<Answer> {
  return server.call('POST', operations.issue_token.path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: formOf(fields).toString(),
  });
}

/** Redeems the code with which a person came back. */
export async function redeem(
  server: TestServer,
  { clientId, answer, change = {} }: { clientId: string; answer: URL; change?: Change },
): Promise<Answer> {
  return askToken(server, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: answer.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUrl,
    ...change,
  });
}

export async function renew(
  server: TestServer,
  { clientId, token, change = {} }: { clientId: string; token: string; change?: Change },
): Promise<Answer> {
  return askToken(server, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
    ...change,
  });
}

export interface GivenTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

export function tokensIn({ status, text }: Answer): GivenTokens {
  if (status !== 200) throw new Error(`the token endpoint answered ${status}: ${text}`);
  return JSON.parse(text) as GivenTokens;
}

function formOf(fields: Change): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) form.set(name, value);
  return form;
}
