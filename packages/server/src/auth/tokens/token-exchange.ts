import {
  type Scope,
  type TokenResponse,
  idPattern,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { recordAudit } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import { decidePersonAccess } from '../../domain/access.ts';
import type { RateLimit } from '../../ports/rate-limit.ts';
import { networkOf } from '../../runtime/network-of.ts';
import type { TokenForm, TokenRequest } from './client-authentication.ts';
import { narrowed } from './requested-scopes.ts';
import type { Selectors } from '../selectors.ts';
import { consoleClientId } from '../sign-in/own-clients.ts';
import { refuseToken } from './token-refusal.ts';
import type { IssuedToken, Tokens } from './tokens.ts';
import type { HumanToken } from './verified-token.ts';

export const tokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * D-151: exchanges the sign-in token of a person in the console for a token of one tenant (RFC 8693). The console is a
 * public client: the token of the person is the proof. A sign-in token itself opens no tenant (D-55).
 */
export interface TokenExchange {
  exchange(request: TokenRequest): Promise<TokenResponse>;
}

export interface TokenExchangeParts extends Pick<Services, 'store' | 'clock'> {
  readonly tokens: Tokens;
  readonly baseUrl: string;
  /** The program whose sign-in tokens are accepted: the console, by its name at the issuer of people. */
  readonly program: string;
  readonly limits: {
    readonly perNetwork: RateLimit;
    readonly perPersonAndNetwork: RateLimit;
  };
}

export function createTokenExchange(parts: TokenExchangeParts): TokenExchange {
  const { store, tokens, limits } = parts;

  return {
    async exchange(request) {
      const { form, authorization, address } = request;
      const network = networkOf(address);
      charge(limits.perNetwork, network);
      requireConsole(authorization, form);
      const subject = await readSubject(parts, form);
      charge(limits.perPersonAndNetwork, `${subject.userId} ${network}`);
      const target = targetIn(form.resource, parts.baseUrl);
      const { userId } = subject;
      const claimedRole = claimedRoleIn(subject, target);
      const reached = await store.read.organizations.reach(userId, target ?? nowhere);
      const ruling = decidePersonAccess(reached, {
        claimedRole,
        tokenScopes: undefined,
        tokenIssuedAt: subject.issuedAt,
        required: [],
      });
      if (!ruling.ok) {
        return ruling.code === 'unauthorized' ? refuseSubject() : refuseToken('invalid_target');
      }
      // Another issuer decides by its claims: without one, only an accepted invitation gives access (D-332).
      const isForeign = subject.memberships !== undefined;
      const hasRole = !isForeign || claimedRole !== undefined || reached?.isInvited === true;
      if (target === undefined || !hasRole) return refuseToken('invalid_target');
      const scopes = narrowed([...ruling.value.scopes], form.scope);
      const issued = await tokens.issueForTenant({
        userId,
        ...target,
        scopes,
        claimedRole,
        program: consoleClientId,
        notAfter: subject.expiresAt,
      });
      await recordExchange(parts, request, { userId, ...target, scopes, issued });
      return {
        access_token: issued.token,
        issued_token_type: accessTokenType,
        token_type: 'Bearer',
        expires_in: issued.expiresInSeconds,
        scope: scopes.join(' '),
      };
    },
  };
}

/** Stands for a resource that is no tenant, so that it costs the same read. No id has this form. */
const nowhere: Selectors = { organizationId: organizationId('.'), tenantId: tenantId('.') };

function charge(limit: RateLimit, key: string): void {
  const { ok, retryAfterSeconds } = limit.take(key);
  if (ok) return;
  refuseToken(
    'rate_limited',
    'Too many requests. Wait for the time in Retry-After.',
    retryAfterSeconds,
  );
}

/** A request with a secret is not the console's: it has none. */
function requireConsole(authorization: string | undefined, form: TokenForm): void {
  const isConsole = form.client_id === consoleClientId;
  if (!isConsole || authorization !== undefined || form.client_secret !== undefined) {
    refuseToken('invalid_client');
  }
  if (form.subject_token === undefined || form.subject_token_type !== accessTokenType) {
    refuseToken('invalid_request', 'subject_token must be an access token.');
  }
  if ((form.requested_token_type ?? accessTokenType) !== accessTokenType) {
    refuseToken('invalid_request', 'requested_token_type must be that of an access token.');
  }
  if (form.resource === undefined) {
    refuseToken('invalid_request', 'resource is missing: it names the tenant.');
  }
}

/**
 * Only a token that the console obtained for a person: not that of a terminal, an operator, a client or an exchange.
 */
async function readSubject(
  { tokens, program }: TokenExchangeParts,
  { subject_token: text = '' }: TokenForm,
): Promise<HumanToken> {
  const token = await tokens.verify(text);
  if (token?.kind !== 'human' || token.program !== program) return refuseSubject();
  return token;
}

/** RFC 8693 section 2.2.2. The same for every reason, so that a stolen token tells nothing. */
function refuseSubject(): never {
  return refuseToken('invalid_request', 'subject_token is not a valid token of the console.');
}

const tenantPath = /^\/v1\/organizations\/([^/]+)\/tenants\/([^/]+)$/;

function targetIn(resource: string | undefined, baseUrl: string): Selectors | undefined {
  if (resource?.startsWith(baseUrl) !== true) return undefined;
  const [, organization = '', tenant = ''] = tenantPath.exec(resource.slice(baseUrl.length)) ?? [];
  if (!idPattern.test(organization) || !idPattern.test(tenant)) return undefined;
  return { organizationId: organizationId(organization), tenantId: tenantId(tenant) };
}

function claimedRoleIn({ memberships }: HumanToken, target: Selectors | undefined) {
  return memberships?.find(({ organizationId: id }) => id === target?.organizationId)?.role;
}

interface ExchangedToken extends Selectors {
  readonly userId: HumanToken['userId'];
  readonly scopes: readonly Scope[];
  readonly issued: IssuedToken;
}

/** D-155: the row is durable before the token is shown; without it there is no token. */
async function recordExchange(
  { store, clock }: TokenExchangeParts,
  { requestId, address }: TokenRequest,
  { userId, organizationId: chain, tenantId: tenant, scopes, issued }: ExchangedToken,
): Promise<void> {
  await store.transaction((tx) =>
    recordAudit(tx, {
      chain,
      at: clock.now(),
      by: { kind: 'user', id: userId, requestId, address },
      action: 'token.exchange',
      object: issued.id,
      details: {
        tenant_id: tenant,
        scope: scopes.join(' '),
        client: consoleClientId,
        expires_at: issued.expiresAt,
      },
    }),
  );
}
