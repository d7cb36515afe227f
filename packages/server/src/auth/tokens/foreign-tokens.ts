import { type OrganizationId, idPattern, memberRoles, organizationId } from '@convoke/contract';
import { type JWTPayload, type JWTVerifyGetKey, createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { recognise } from '../../app/people/people.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Role } from '../../domain/member.ts';
import type { PeopleIssuer } from '../../ports/people-issuer.ts';
import { type ClaimedMembership, type HumanToken, endOfSecond } from './verified-token.ts';

/**
 * Verifies access tokens of the OpenID Connect issuer that an operator trusts for people. Signature and audience prove
 * who the person is; the token claims name organizations and roles, which hold as long as the token lives.
 */
export interface ForeignTokens {
  readonly issuer: string;
  /** Undefined when the token is not valid now. Refuses with 503 when the issuer's keys cannot be fetched. */
  verify(token: string): Promise<HumanToken | undefined>;
}

type ForeignParts = Pick<Services, 'store' | 'clock' | 'ids' | 'log'>;

/** Asymmetric only: with a shared secret, every verifier could issue tokens. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const timeoutMs = 5_000;
const cooldownMs = 10_000;
const keysMaxAgeMs = 600_000;
const clockToleranceSeconds = 5;

export function createForeignTokens(settings: PeopleIssuer, parts: ForeignParts): ForeignTokens {
  const { clock, log } = parts;
  let keys: Promise<JWTVerifyGetKey> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  function unavailable(error: unknown): never {
    if (clock.now() - failedAt >= cooldownMs) {
      log.error('identity provider unreachable', error, {
        issuer: settings.issuer,
      });
    }
    failedAt = clock.now();
    keys = undefined;
    return refuse('identity_unavailable', { retryAfterSeconds: 10 });
  }

  async function keySet(): Promise<JWTVerifyGetKey> {
    // While the issuer is unreachable, refuse at once instead of letting each caller wait for the timeout.
    if (keys === undefined && clock.now() - failedAt < cooldownMs) {
      return refuse('identity_unavailable', { retryAfterSeconds: 10 });
    }
    keys ??= discoverKeys(settings.issuer);
    return keys.catch(unavailable);
  }

  return {
    issuer: settings.issuer,
    async verify(token) {
      const key = await keySet();
      const verified = await jwtVerify(token, key, {
        issuer: settings.issuer,
        audience: settings.audience,
        algorithms,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.now()),
      }).catch((error: unknown) => (isRefusedToken(error) ? undefined : unavailable(error)));
      return verified && toHumanToken(verified.payload, settings, parts);
    },
  };
}

/** Whether the error is about the token, and not about fetching the keys. */
function isRefusedToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC';
}

const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: z.url() });

/**
 * OpenID Connect Discovery: the document must name the issuer itself, otherwise another server could impersonate it.
 */
async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(address, { redirect: 'error', signal });
  if (!response.ok) throw new Error(`${address} answers ${response.status}`);
  const document = discoveryDocument.parse(await response.json());
  if (document.issuer !== issuer) {
    throw new Error(`${address} names the issuer ${document.issuer}, not ${issuer}`);
  }
  return createRemoteJWKSet(new URL(document.jwks_uri), {
    timeoutDuration: timeoutMs,
    cooldownDuration: cooldownMs,
    cacheMaxAge: keysMaxAgeMs,
  });
}

const personClaims = z.object({
  sub: z.string().min(1).max(255),
  exp: z.number(),
  iat: z.number().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  name: z.string().optional().catch(undefined),
  azp: z.string().optional(),
  client_id: z.string().optional(),
});

async function toHumanToken(
  payload: JWTPayload,
  settings: PeopleIssuer,
  parts: ForeignParts,
): Promise<HumanToken | undefined> {
  const claims = personClaims.safeParse(payload);
  if (!claims.success) return undefined;
  const { sub: subject, exp, iat, email, email_verified: isVerified, name } = claims.data;
  const { azp, client_id: clientId } = claims.data;
  const now = parts.clock.now();
  // A token from the future would outlast "sign out everywhere", which ends the tokens issued before it.
  if (iat !== undefined && iat * 1000 > now + clockToleranceSeconds * 1000) return undefined;
  const visitor = {
    issuer: settings.issuer,
    subject,
    email: isVerified === true ? email : undefined,
    name,
  };
  return {
    kind: 'human',
    userId: await recognise(parts, visitor),
    program: azp ?? clientId,
    memberships: membershipsIn(payload, settings),
    kid: '',
    expiresAt: exp * 1000,
    issuedAt: iat === undefined ? now : endOfSecond(iat),
  };
}

/** Gives the strongest role that the token names, in every organization that it names. */
function membershipsIn(payload: JWTPayload, settings: PeopleIssuer): ClaimedMembership[] {
  const role = strongest(valuesOf(payload[settings.roleClaim]), settings.roles);
  if (role === undefined) return [];
  return valuesOf(payload[settings.organizationClaim])
    .map((value) => organizationOf(value, settings.organizations))
    .filter((id) => id !== undefined)
    .map((id) => ({ organizationId: id, role }));
}

const valuesMax = 1_000;

function valuesOf(claim: unknown): string[] {
  const values: unknown[] = Array.isArray(claim) ? claim.slice(0, valuesMax) : [claim];
  return values.filter((value) => typeof value === 'string');
}

function strongest(values: string[], meanings: ReadonlyMap<string, Role>): Role | undefined {
  const named = values.map((value) => (meanings.size === 0 ? value : meanings.get(value)));
  return memberRoles.find((role) => named.includes(role));
}

function organizationOf(
  value: string,
  meanings: ReadonlyMap<string, string>,
): OrganizationId | undefined {
  const id = meanings.size === 0 ? value : meanings.get(value);
  return id !== undefined && idPattern.test(id) ? organizationId(id) : undefined;
}
