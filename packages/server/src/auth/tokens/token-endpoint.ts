import { type Scope, type TokenResponse, clientId, idPattern, limits } from '@convoke/contract';
import { recordAudit } from '../../app/audit.ts';
import type { Client } from '../../domain/client.ts';
import type { Credential } from '../../domain/credential.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Allowance, RateLimit } from '../../ports/rate-limit.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Store } from '../../ports/store.ts';
import { networkOf } from '../../runtime/network-of.ts';
import {
  type PresentedSecret,
  type TokenRequest,
  readPresentedSecret,
} from './client-authentication.ts';
import { narrowed } from './requested-scopes.ts';
import { isRedeemed } from '../sign-in/assistants/redeeming.ts';
import { unmatchableHmac } from '../secrets.ts';
import { type TokenExchange, tokenExchangeGrant } from './token-exchange.ts';
import { refuseToken } from './token-refusal.ts';
import type { IssuedToken, Tokens } from './tokens.ts';

/** D-50: exchanges a client secret for an access token; and, where there is a console, a person's token (D-151). */
export interface TokenEndpoint {
  exchange(request: TokenRequest): Promise<TokenResponse>;
}

/** Redeems a code or renews a token that a person's sign-in gave an assistant (D-620). */
export type Redeem = (request: TokenRequest) => Promise<TokenResponse>;

interface TokenEndpointOptions {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts failures per client id and address; a success costs nothing. */
  readonly failures: RateLimit;
  /** Absent where the console is off. */
  readonly tokenExchange?: TokenExchange | undefined;
  /** Answers the grants of assistants; absent where people sign in with another issuer. */
  readonly redeem?: Redeem | undefined;
}

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  return {
    async exchange(request) {
      const { authorization, form, address, requestId } = request;
      const { tokenExchange } = options;
      if (form.grant_type === tokenExchangeGrant && tokenExchange !== undefined) {
        return tokenExchange.exchange(request);
      }
      if (isRedeemed(form.grant_type) && options.redeem !== undefined) {
        return options.redeem(request);
      }
      requireGrantType(form.grant_type);
      const presented = readPresentedSecret(authorization, form);
      const attempt = `${networkOf(address)} ${presented.clientId.slice(0, limits.idMaxCharacters)}`;
      const proven = await authenticate(options, presented);
      if (proven === undefined) return refuseFailure(options.failures.take(attempt));
      const { client, credential } = proven;
      const scopes = narrowed(client.scopes, form.scope);
      const issued = await options.tokens.issueForClient(client, scopes, credential.id);
      await recordIssue(options, { client, credential, scopes, issued, address, requestId });
      return {
        access_token: issued.token,
        token_type: 'Bearer',
        expires_in: issued.expiresInSeconds,
        scope: scopes.join(' '),
      };
    },
  };
}

function requireGrantType(grantType: string | undefined): void {
  if (grantType === undefined) refuseToken('invalid_request', 'grant_type is missing.');
  if (grantType !== 'client_credentials') refuseToken('unsupported_grant_type');
}

/** Only a failure is limited: a right secret passes whatever others tried, and 256 random bits cannot be guessed. */
function refuseFailure({ ok, retryAfterSeconds }: Allowance): never {
  if (ok) return refuseToken('invalid_client');
  const message = 'Too many failed attempts. Wait for the time in Retry-After.';
  return refuseToken('rate_limited', message, retryAfterSeconds);
}

/**
 * Returns undefined for every kind of failure, after the same work: an unknown client costs the same reads and the
 * same comparisons as a known one with a wrong secret.
 */
async function authenticate(
  { store, secrets, clock }: TokenEndpointOptions,
  presented: PresentedSecret,
): Promise<{ client: Client; credential: Credential } | undefined> {
  // Only an id can exist. Other text, which PostgreSQL may reject, is replaced by a name that does not exist.
  const name = idPattern.test(presented.clientId) ? presented.clientId : 'none';
  const client = await store.read.clients.findByOAuthId(name);
  const live = await store.read.credentials.live(client?.id ?? clientId('none'), clock.now());
  let matching: Credential | undefined;
  for (const credential of live) {
    if (secrets.matches(presented.secret, credential.secretHmac)) matching = credential;
  }
  for (let missing = live.length; missing < limits.liveCredentialsPerClient; missing += 1) {
    secrets.matches(presented.secret, unmatchableHmac);
  }
  if (client?.status !== 'active' || matching === undefined) return undefined;
  return { client, credential: matching };
}

const markUsedEveryMs = 60_000;

interface Issue {
  readonly client: Client;
  readonly credential: Credential;
  readonly scopes: readonly Scope[];
  readonly issued: IssuedToken;
  readonly address: string;
  readonly requestId: string;
}

/**
 * Writes the audit row before the token is returned (D-69). The one exception: when the store accepts no writes the
 * token is issued anyway, because otherwise the backends of every organization would stop; the log then holds
 * what the audit lacks. `last_used_at` is for people, and exact to a minute.
 */
async function recordIssue(
  { store, clock, log }: TokenEndpointOptions,
  { client, credential, scopes, issued, address, requestId }: Issue,
): Promise<void> {
  const now = clock.now();
  const isDue = now - (credential.lastUsedAt ?? 0) >= markUsedEveryMs;
  try {
    await store.transaction(async (tx) => {
      if (isDue) await tx.credentials.markUsed(credential.id, now);
      await recordAudit(tx, {
        chain: client.organizationId,
        at: now,
        by: { kind: 'client', id: client.id, requestId, address },
        action: 'token.issue',
        object: issued.id,
        details: {
          credential_id: credential.id,
          scope: scopes.join(' '),
          expires_at: issued.expiresAt,
        },
      });
    });
  } catch (error) {
    log.error('a token was issued without its audit row', error, {
      client_id: client.id,
      credential_id: credential.id,
      token_id: issued.id,
      request_id: requestId,
    });
  }
}
