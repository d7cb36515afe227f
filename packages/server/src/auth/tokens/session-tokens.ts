import {
  type Scope,
  type SessionId,
  type SessionTokenRecord,
  isTerminalSessionStatus,
  sessionTokenScopes,
  usualSessionTokenScopes,
} from '@convoke/contract';
import { recordAudit } from '../../app/audit.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import { getSession } from '../../app/sessions.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Actor } from '../../domain/audit.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { Session } from '../../domain/session.ts';
import type { IssuedToken, Tokens } from './tokens.ts';

/** D-196: issues the tokens that a page holds, each for one session. */
export interface SessionTokens {
  issue(caller: ApplicationCaller, request: SessionTokenRequest): Promise<SessionTokenRecord>;
}

export interface SessionTokenRequest {
  readonly sessionId: SessionId;
  /** As the request has them. */
  readonly scopes: readonly string[] | undefined;
  readonly lifetimeSeconds: number;
  readonly endUser: string | undefined;
  readonly by: Actor;
}

type SessionTokenParts = Pick<Services, 'store' | 'clock' | 'settings'> & {
  readonly tokens: Tokens;
};

export function createSessionTokens(parts: SessionTokenParts): SessionTokens {
  return {
    async issue(caller, request) {
      const { identity, scope: selectors } = caller;
      // A person has no backend that could hand the token on; a token for a session lacks the scope already.
      if (identity.kind !== 'client') return refuse('forbidden', { codeOnly: true });
      const { sessionId, lifetimeSeconds } = request;
      const scopes = grantedScopes(caller.scopes, request.scopes);
      const session = await getSession(parts, selectors, sessionId);
      if (isTerminalSessionStatus(session.status)) return refuse('session_terminal');
      const endUser = endUserOfToken(session, request.endUser);
      const { client, credentialId } = identity;
      const issued = await parts.tokens.issueForSession({
        oauthClientId: client.oauthClientId,
        ...selectors,
        sessionId,
        scopes,
        credentialId,
        endUser,
        lifetimeSeconds,
      });
      await recordIssue(parts, { caller, request: { ...request, endUser }, scopes, issued });
      return {
        token: issued.token,
        token_type: 'Bearer',
        expires_at: isoTime(issued.expiresAt),
        expires_in: issued.expiresInSeconds,
        scopes: [...scopes],
        session_id: sessionId,
      };
    },
  };
}

/** D-591: the token of a session that is for an end user is for the same one. */
function endUserOfToken(
  { endUser: ofSession }: Pick<Session, 'endUser'>,
  given: string | undefined,
): string | undefined {
  if (ofSession === null || given === undefined || given === ofSession) return ofSession ?? given;
  return refuse('invalid_body', { message: 'end_user: the session is for another end user.' });
}

/** The scopes of the token: what was asked for, or all that the caller has of those a page usually has. */
function grantedScopes(
  held: ReadonlySet<Scope>,
  requested: readonly string[] | undefined,
): readonly Scope[] {
  const asked = new Set<string>(
    requested ?? usualSessionTokenScopes.filter((scope) => held.has(scope)),
  );
  const granted = sessionTokenScopes.filter((scope) => held.has(scope) && asked.has(scope));
  if (granted.length === 0 || granted.length < asked.size) {
    const message = `A token for a session may have the scopes that its client has of: ${sessionTokenScopes.join(', ')}.`;
    return refuse('invalid_scope', { message });
  }
  return granted;
}

interface Issue {
  readonly caller: ApplicationCaller;
  readonly request: SessionTokenRequest;
  readonly scopes: readonly Scope[];
  readonly issued: IssuedToken;
}

/** The row is durable before the token is shown; without it there is no token. */
async function recordIssue(
  { store, clock }: SessionTokenParts,
  { caller: { scope }, request, scopes, issued }: Issue,
): Promise<void> {
  const { sessionId, endUser, by } = request;
  await store.transaction((tx) =>
    recordAudit(tx, {
      chain: scope.organizationId,
      at: clock.now(),
      by,
      action: 'session_token.issue',
      object: issued.id,
      details: {
        tenant_id: scope.tenantId,
        session_id: sessionId,
        scope: scopes.join(' '),
        expires_at: issued.expiresAt,
        ...(endUser === undefined ? {} : { end_user: endUser }),
      },
    }),
  );
}
