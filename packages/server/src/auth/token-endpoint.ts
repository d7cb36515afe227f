import {
  type Scope,
  type TokenResponse,
  clientId,
  idPattern,
  isScope,
  limits,
} from '@convoke/contract';
import { recordAudit } from '../app/audit.ts';
import type { Client } from '../domain/client.ts';
import type { Credential } from '../domain/credential.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { RateLimit } from '../ports/rate-limit.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Store } from '../ports/store.ts';
import { type ClientClaim, type TokenForm, readClientClaim } from './client-authentication.ts';
import { unmatchableHmac } from './secrets.ts';
import { refuseToken } from './token-refusal.ts';
import type { IssuedToken, Tokens } from './tokens.ts';

/** D-50: exchanges a client secret for an access token. */
export interface TokenEndpoint {
  exchange(request: TokenRequest): Promise<TokenResponse>;
}

export interface TokenRequest {
  readonly authorization: string | undefined;
  /** The form, each parameter sent once and none of them empty. */
  readonly form: TokenForm;
  /** Where the request came from, as far as the server can tell. */
  readonly address: string;
  readonly requestId: string;
}

interface TokenEndpointOptions {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
  /** Failures per client id and address; a success uses nothing up. */
  readonly failures: RateLimit;
}

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  return {
    async exchange({ authorization, form, address, requestId }) {
      requireGrantType(form.grant_type);
      const claim = readClientClaim(authorization, form);
      const attempt = `${address} ${claim.clientId.slice(0, limits.idMaxCharacters)}`;
      refuseIfLimited(options.failures, attempt);
      const proven = await authenticate(options, claim);
      if (proven === undefined) {
        options.failures.take(attempt);
        return refuseToken('invalid_client');
      }
      const { client, credential } = proven;
      const scopes = narrowed(client, form.scope);
      const issued = await options.tokens.issueForClient(client, scopes);
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

function refuseIfLimited(failures: RateLimit, attempt: string): void {
  const { ok, retryAfterSeconds } = failures.look(attempt);
  if (ok) return;
  const message = 'Too many failed attempts. Wait as Retry-After says.';
  refuseToken('rate_limited', message, retryAfterSeconds);
}

/**
 * One answer for whatever is wrong, and the same work for it: an unknown client costs the same reads and
 * the same comparisons as a known one with a wrong secret.
 */
async function authenticate(
  { store, secrets, clock }: TokenEndpointOptions,
  claim: ClientClaim,
): Promise<{ client: Client; credential: Credential } | undefined> {
  // Ours are ids; anything else, which PostgreSQL may not even take, is looked up as one that is not there.
  const name = idPattern.test(claim.clientId) ? claim.clientId : 'none';
  const client = await store.read.clients.findByOAuthId(name);
  const live = await store.read.credentials.live(client?.id ?? clientId('none'), clock.now());
  let matching: Credential | undefined;
  for (const credential of live) {
    if (secrets.matches(claim.secret, credential.secretHmac)) matching = credential;
  }
  for (let missing = live.length; missing < limits.liveCredentialsPerClient; missing += 1) {
    secrets.matches(claim.secret, unmatchableHmac);
  }
  if (client?.status !== 'active' || matching === undefined) return undefined;
  return { client, credential: matching };
}

/** A client may ask for less than it has, never for more. */
function narrowed(client: Client, requested: string | undefined): readonly Scope[] {
  if (requested === undefined) return client.scopes;
  const wanted = new Set(requested.split(' ').filter((scope) => scope !== ''));
  const isGranted = (scope: string) => isScope(scope) && client.scopes.includes(scope);
  if (wanted.size === 0 || ![...wanted].every(isGranted)) return refuseToken('invalid_scope');
  return client.scopes.filter((scope) => wanted.has(scope));
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
 * The audit row is durable before the token is shown (D-69), but for one case: a store that takes no writes
 * withholds no token, because the backends of every organization would stop with it. Then the log has what
 * the audit lacks. `last_used_at` is for people, and exact to a minute.
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
