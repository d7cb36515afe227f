import {
  type MemberRole,
  type TokenResponse,
  type UserId,
  idPrefixes,
  operations,
  organizationId,
  userId,
} from '@convoke/contract';
import { SignJWT } from 'jose';
import { openSigningKeys } from '../../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../../src/auth/master-key.ts';
import { createSealing } from '../../../src/auth/sealing.ts';
import { audiencesOf, longestTokenLifetimeMs } from '../../../src/auth/tokens/tokens.ts';
import type { Answer, Identity } from '../checked-calls.ts';
import { type Selection, type TestServer, selecting } from '../server.ts';

/** Steps of tests in which a person works in a tenant through the console. */

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** A person with a role in the first organization, or in another. */
export async function addMember(
  server: TestServer,
  role: MemberRole,
  organization = server.quickstart.organization_id,
): Promise<UserId> {
  const { store, ids, clock } = server.convoke.services;
  const id = userId(ids.next(idPrefixes.user));
  const createdAt = clock.now();
  await store.transaction(async (tx) => {
    await tx.organizations.ensureUser({ id, email: emailOf(id), createdAt });
    await tx.organizations.insertMembership({
      organizationId: organizationId(organization),
      userId: id,
      role,
      createdAt,
    });
  });
  return id;
}

export const emailOf = (id: UserId) => `${id}@convoke.test`;

/**
 * The token that the console gets when a person signs in, without the pages: `console-login.slow.test.ts` shows those.
 */
export async function signInToken(
  server: TestServer,
  person: UserId,
  { program = 'convoke-console', seconds = 600 }: { program?: string; seconds?: number } = {},
): Promise<string> {
  const { store, clock, ids } = server.convoke.services;
  const { baseUrl, cluster } = server.config;
  const masterKey = await loadMasterKey(cluster.masterKeyFile);
  const sealing = createSealing(deriveKey(masterKey, 'signing-keys'));
  const longestLifetimeMs = longestTokenLifetimeMs;
  const keys = await openSigningKeys({ store, clock, sealing, longestLifetimeMs });
  const { kid, key } = await keys.signer();
  const now = clock.now();
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT({ iat_ms: now, client_id: program })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
    .setIssuer(baseUrl)
    .setSubject(person)
    .setAudience(audiencesOf(baseUrl).human)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + seconds)
    .setJti(ids.next('tok'))
    .sign(key);
}

export type ExchangeFields = Readonly<Record<string, string | undefined>>;

/** The form of the console, with some fields changed or, where undefined, left out. */
export async function askExchange(
  server: TestServer,
  subject_token: string,
  { change = {}, headers = {} }: { change?: ExchangeFields; headers?: Identity } = {},
): Promise<Answer> {
  const fields = Object.entries({
    grant_type: exchangeGrant,
    client_id: 'convoke-console',
    subject_token,
    subject_token_type: accessTokenType,
    resource: resourceOf(server, server.quickstart),
    ...change,
  }).filter((field): field is [string, string] => field[1] !== undefined);
  return server.call('POST', operations.issue_token.path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

export function resourceOf(
  { baseUrl }: Pick<TestServer, 'baseUrl'>,
  { organization_id, tenant_id }: Selection,
): string {
  return `${baseUrl}/v1/organizations/${organization_id}/tenants/${tenant_id}`;
}

export async function exchange(
  server: TestServer,
  token: string,
  change: ExchangeFields = {},
): Promise<TokenResponse> {
  const { status, text } = await askExchange(server, token, { change });
  if (status !== 200) throw new Error(`the exchange answered ${status}: ${text}`);
  return operations.issue_token.responses[200].schema.parse(JSON.parse(text));
}

/** A person at work in the first tenant. */
export async function asPerson(server: TestServer, person: UserId): Promise<Identity> {
  const { access_token } = await exchange(server, await signInToken(server, person));
  return selecting(server.quickstart, access_token);
}
