import { hash } from 'node:crypto';
import {
  type CredentialId,
  type OrganizationId,
  type Scope,
  type SessionId,
  type TenantId,
  type UserId,
  credentialId,
  isScope,
  limits,
  memberRoles,
  organizationId,
  sessionId,
  tenantId,
  userId,
} from '@convoke/contract';
// By parts: importing all of `jose` would load its encryption at every start.
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import type { Client } from '../../domain/client.ts';
import type { Role } from '../../domain/member.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ForeignTokens } from './foreign-tokens.ts';
import type { SigningKeys } from '../keys.ts';
import { tenantOfResource } from '../sign-in/assistants/mcp-resource.ts';
import { TokenCache } from './token-cache.ts';
import { type PersonTenantToken, type VerifiedToken, endOfSecond } from './verified-token.ts';

/**
 * Access tokens: JWTs of type `at+jwt` (RFC 9068), for automation clients and for people. The audience distinguishes
 * the two (D-55). A token of a person for one tenant has the audience of the application API, and names the tenant
 * (D-152).
 *
 * Time: `exp` is exact, without leeway, because a token must not outlive its expiry; a new one costs the client one
 * request. An `iat` up to a minute ahead is accepted: it only means that the clock of the replica that issued the token
 * is ahead of this one (D-323).
 */
export interface Tokens {
  /** `credential` is the one that obtains the token: streams end when it is revoked. */
  issueForClient(
    client: Client,
    scopes: readonly Scope[],
    credential?: CredentialId,
  ): Promise<IssuedToken>;
  issueForPerson(person: UserId, lifetimeSeconds?: number): Promise<IssuedToken>;
  /** D-152: a token of a person for one tenant. It ends no later than the token it is exchanged for. */
  issueForTenant(request: TenantTokenRequest): Promise<IssuedToken>;
  /** D-197: a token for one session. */
  issueForSession(request: SessionTokenContent): Promise<IssuedToken>;
  /** Undefined when the token is not valid now. The reason is not disclosed. */
  verify(token: string): Promise<VerifiedToken | undefined>;
}

export interface TenantTokenRequest {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly scopes: readonly Scope[];
  /** The role according to another issuer; undefined where the database decides. */
  readonly claimedRole: Role | undefined;
  /** The program that acts for the person. */
  readonly program: string;
  /** Milliseconds: when the exchanged token ends. */
  readonly notAfter: number;
}

/** The claims of a token for one session. */
export interface SessionTokenContent {
  readonly oauthClientId: string;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly scopes: readonly Scope[];
  readonly credentialId: CredentialId | undefined;
  readonly endUser: string | undefined;
  readonly lifetimeSeconds: number;
}

export interface IssuedToken {
  readonly token: string;
  readonly id: string;
  readonly expiresInSeconds: number;
  readonly expiresAt: number;
}

interface TokensOptions {
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The server's base address: the issuer, and the start of both audiences. */
  readonly baseUrl: string;
  /** The other issuer that is trusted for people, if there is one. */
  readonly foreign?: ForeignTokens | undefined;
  /** Lifetime of a client's token, for tests that wait for its end. */
  readonly clientTokenSeconds?: number | undefined;
}

/** The longest lifetime an operator can request for a break-glass token. The default is minutes. */
export const humanTokenMaxSeconds = 30 * 24 * 3600;
const humanTokenDefaultSeconds = 900;
/** A signing key is accepted for at least as long as the tokens it signed. */
export const longestTokenLifetimeMs = humanTokenMaxSeconds * 1000;

const tokenType = 'at+jwt';
const issuedAheadMaxSeconds = 60;
/** Our tokens have about 600 characters. */
const tokenMaxCharacters = 4_096;
/** The members of our token headers. A token with others (`jku`, `jwk`, `x5u`, `crit`, …) is not ours. */
const headerMembers = new Set(['alg', 'typ', 'kid']);

/** `iat_ms` is ours: `iat` has seconds only, and a token must be older or newer than the end of a sign-in. */
const commonClaims = {
  sub: z.string(),
  exp: z.int(),
  iat: z.int(),
  iat_ms: z.int().optional(),
};
const automationClaims = z.object({
  ...commonClaims,
  client_id: z.string(),
  scope: z.string(),
  org: z.string(),
  credential_id: z.string().optional(),
});
const sessionClaims = automationClaims.extend({
  tenant: z.string(),
  session: z.string(),
  end_user: z.string().optional(),
});
const humanClaims = z.object({ ...commonClaims, client_id: z.string().optional() });
const personTenantClaims = z.object({
  ...commonClaims,
  scope: z.string(),
  org: z.string(),
  tenant: z.string(),
  role: z.enum(memberRoles).optional(),
});

export function createTokens(options: TokensOptions): Tokens {
  const { keys, clock, baseUrl } = options;
  const audiences = audiencesOf(baseUrl);
  const cache = new TokenCache(clock);

  async function checkSignature(token: string): Promise<VerifiedToken | undefined> {
    const header = readHeader(token);
    if (header === undefined) return undefined;
    const verifier = await keys.verifier(header.kid);
    if (verifier === undefined || header.alg !== verifier.alg) return undefined;
    try {
      const { payload } = await jwtVerify(token, verifier.key, {
        algorithms: [verifier.alg],
        typ: tokenType,
        issuer: baseUrl,
        currentDate: new Date(clock.now()),
      });
      return readClaims(payload, { kid: header.kid, audiences, now: clock.now() });
    } catch {
      return undefined;
    }
  }

  return {
    ...issuersOf(options, audiences),
    async verify(token) {
      if (token.length > tokenMaxCharacters) return undefined;
      const digest = hash('sha256', token, 'base64url');
      const known = cache.find(digest);
      if (known !== undefined) return (await keys.accepts(known.kid)) ? known : undefined;
      const { foreign } = options;
      if (foreign !== undefined && issuerOf(token) === foreign.issuer) return foreign.verify(token);
      const found = await checkSignature(token);
      if (found !== undefined) cache.keep(digest, found);
      return found;
    },
  };
}

/** Who signs what, for whom and for how long. */
function issuersOf(options: TokensOptions, audiences: Audiences): Omit<Tokens, 'verify'> {
  const { clock } = options;
  return {
    issueForClient(client, scopes, credential) {
      return issue(options, {
        audience: audiences.automation,
        subject: client.oauthClientId,
        lifetimeSeconds: options.clientTokenSeconds ?? limits.tokenLifetimeSeconds,
        claims: {
          client_id: client.oauthClientId,
          scope: scopes.join(' '),
          org: client.organizationId,
          ...(credential === undefined ? {} : { credential_id: credential }),
        },
      });
    },
    issueForPerson(person, lifetimeSeconds = humanTokenDefaultSeconds) {
      return issue(options, {
        audience: audiences.human,
        subject: person,
        lifetimeSeconds,
        claims: {},
      });
    },
    issueForTenant(request) {
      const startsAt = Math.floor(clock.now() / 1000);
      const left = Math.floor(request.notAfter / 1000) - startsAt;
      return issue(options, {
        audience: audiences.automation,
        subject: request.userId,
        lifetimeSeconds: Math.min(options.clientTokenSeconds ?? limits.tokenLifetimeSeconds, left),
        claims: tenantClaims(request),
      });
    },
    issueForSession(request) {
      return issue(options, {
        audience: audiences.automation,
        subject: request.oauthClientId,
        lifetimeSeconds: options.clientTokenSeconds ?? request.lifetimeSeconds,
        claims: sessionClaimsOf(request),
      });
    },
  };
}

function tenantClaims(request: TenantTokenRequest): TokenContent['claims'] {
  const { program, claimedRole } = request;
  return {
    act: { sub: program },
    client_id: program,
    org: request.organizationId,
    tenant: request.tenantId,
    scope: request.scopes.join(' '),
    ...(claimedRole === undefined ? {} : { role: claimedRole }),
  };
}

function sessionClaimsOf(request: SessionTokenContent): TokenContent['claims'] {
  const { oauthClientId, scopes, credentialId: credential, endUser } = request;
  return {
    client_id: oauthClientId,
    org: request.organizationId,
    tenant: request.tenantId,
    session: request.sessionId,
    scope: scopes.join(' '),
    ...(credential === undefined ? {} : { credential_id: credential }),
    ...(endUser === undefined ? {} : { end_user: endUser }),
  };
}

interface Audiences {
  readonly automation: string;
  readonly human: string;
}

export function audiencesOf(baseUrl: string): Audiences {
  return { automation: baseUrl, human: `${baseUrl}/v1/organizations` };
}

interface TokenContent {
  readonly audience: string;
  readonly subject: string;
  readonly lifetimeSeconds: number;
  readonly claims: Readonly<Record<string, string | { readonly sub: string }>>;
}

async function issue(options: TokensOptions, content: TokenContent): Promise<IssuedToken> {
  const { keys, clock, ids, baseUrl } = options;
  const { kid, key } = await keys.signer();
  const issuedMs = clock.now();
  const issuedAt = Math.floor(issuedMs / 1000);
  const expiresAt = issuedAt + content.lifetimeSeconds;
  const id = ids.next('tok');
  const token = await new SignJWT({ ...content.claims, iat_ms: issuedMs })
    .setProtectedHeader({ alg: 'EdDSA', typ: tokenType, kid })
    .setIssuer(baseUrl)
    .setSubject(content.subject)
    .setAudience(content.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(id)
    .sign(key);
  const expiresInSeconds = content.lifetimeSeconds;
  return { token, id, expiresInSeconds, expiresAt: expiresAt * 1000 };
}

/** The issuer that the token names, not yet verified. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function readHeader(token: string): { kid: string; alg: string } | undefined {
  try {
    const header = decodeProtectedHeader(token);
    const { kid, alg } = header;
    if (!Object.keys(header).every((member) => headerMembers.has(member))) return undefined;
    return typeof kid === 'string' && typeof alg === 'string' ? { kid, alg } : undefined;
  } catch {
    return undefined;
  }
}

function readClaims(
  payload: {
    readonly aud?: string | string[];
    readonly session?: unknown;
    readonly tenant?: unknown;
  },
  { kid, audiences, now }: { kid: string; audiences: Audiences; now: number },
): VerifiedToken | undefined {
  if (payload.aud === audiences.human) {
    const claims = humanClaims.parse(payload);
    if (isIssuedAhead(claims, now)) return undefined;
    const { sub, client_id: program } = claims;
    return { kind: 'human', userId: userId(sub), program, kid, ...timesOf(claims) };
  }
  const ofFace = tenantOfResource(audiences.automation, payload.aud);
  if (ofFace !== undefined) {
    const claims = personTenantClaims.parse(payload);
    if (isIssuedAhead(claims, now)) return undefined;
    return { ...toPersonTenantToken(claims, kid), ...ofFace, face: 'mcp' };
  }
  if (payload.aud !== audiences.automation) return undefined;
  // D-197: before the tenant, which alone marks a person's token.
  if (payload.session !== undefined) {
    const claims = sessionClaims.parse(payload);
    return isIssuedAhead(claims, now) ? undefined : toSessionToken(claims, kid);
  }
  // D-152: only a person's token names a tenant.
  if (payload.tenant !== undefined) {
    const claims = personTenantClaims.parse(payload);
    return isIssuedAhead(claims, now) ? undefined : toPersonTenantToken(claims, kid);
  }
  const claims = automationClaims.parse(payload);
  if (isIssuedAhead(claims, now)) return undefined;
  return { kind: 'automation', ...clientPart(claims), kid, ...timesOf(claims) };
}

/** What every token of a client says. */
function clientPart(claims: z.infer<typeof automationClaims>) {
  const { client_id: oauthClientId, org, scope, credential_id: credential } = claims;
  return {
    oauthClientId,
    organizationId: organizationId(org),
    scopes: scopesIn(scope),
    credentialId: credential === undefined ? undefined : credentialId(credential),
  };
}

function toSessionToken(claims: z.infer<typeof sessionClaims>, kid: string): VerifiedToken {
  return {
    kind: 'session',
    ...clientPart(claims),
    tenantId: tenantId(claims.tenant),
    sessionId: sessionId(claims.session),
    endUser: claims.end_user,
    kid,
    ...timesOf(claims),
  };
}

function toPersonTenantToken(
  claims: z.infer<typeof personTenantClaims>,
  kid: string,
): PersonTenantToken {
  return {
    kind: 'person',
    userId: userId(claims.sub),
    organizationId: organizationId(claims.org),
    tenantId: tenantId(claims.tenant),
    scopes: scopesIn(claims.scope),
    claimedRole: claims.role,
    face: undefined,
    kid,
    ...timesOf(claims),
  };
}

const scopesIn = (text: string): ReadonlySet<Scope> => new Set(text.split(' ').filter(isScope));

interface TimeClaims {
  readonly exp: number;
  readonly iat: number;
  readonly iat_ms?: number | undefined;
}

function timesOf({ exp, iat, iat_ms: ms }: TimeClaims) {
  return { expiresAt: exp * 1000, issuedAt: ms ?? endOfSecond(iat) };
}

function isIssuedAhead({ iat }: { readonly iat: number }, now: number): boolean {
  return iat * 1000 > now + issuedAheadMaxSeconds * 1000;
}
