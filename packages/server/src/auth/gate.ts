import {
  type ErrorCode,
  type Operation,
  type OrganizationId,
  type Scope,
  idPattern,
  requiredScopes,
} from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import {
  type AutomationCaller,
  type HumanCaller,
  decideAccess,
  mayManage,
} from '../domain/access.ts';
import type { Actor } from '../domain/audit.ts';
import type { Client } from '../domain/client.ts';
import type { Role } from '../domain/member.ts';
import type { Store } from '../ports/store.ts';
import { type GateRequest, bearerToken, unauthorized } from './bearer.ts';
import { Challenge } from './challenge.ts';
import { type TenantHeader, readSelectors } from './selectors.ts';
import type { Tokens } from './tokens.ts';
import type { HumanToken, VerifiedToken } from './verified-token.ts';

/**
 * Checks the caller of a request: 401 token, then 400 selectors, then 403 access (D-52). A denial contains only its
 * code (spec §5.4). The token proves who calls; permissions are read from the database on every request (D-51), so a
 * revocation takes effect on the next request.
 */
export interface Gate {
  /** The application API. */
  admitAutomation(operation: Operation, request: GateRequest): Promise<AutomationCaller>;
  /** The management API of the organization in the path. */
  admitHuman(request: GateRequest, organizationId: OrganizationId): Promise<HumanCaller>;
  /** `GET /v1/me/workspaces`: either kind, before anything is selected (D-55). */
  admitAny(request: GateRequest): Promise<AnyCaller>;
  /** The actor of a denied request, if its token is valid. Never refuses. */
  identify(request: GateRequest): Promise<Pick<Actor, 'kind' | 'id'>>;
  /**
   * For an open stream (D-33): whether the caller still has access, and its credential was not revoked. Ignores the
   * expiry of the token, at which the stream ends anyway.
   */
  recheck(caller: AutomationCaller): Promise<boolean>;
}

export type AnyCaller =
  | {
      readonly kind: 'automation';
      readonly client: Client;
      readonly tokenExpiresAt: number;
      readonly subject: string;
    }
  | {
      readonly kind: 'human';
      /** Every organization the person belongs to, in any role. */
      readonly organizationIds: readonly OrganizationId[];
      readonly tokenExpiresAt: number;
      readonly subject: string;
    };

interface GateOptions {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly tenantHeader: TenantHeader;
}

export function createGate({ store, tokens, tenantHeader }: GateOptions): Gate {
  /** Also refuses the token of a person who was signed out everywhere after it was issued. */
  async function authenticate(request: GateRequest): Promise<VerifiedToken> {
    const token = (await tokens.verify(bearerToken(request))) ?? unauthorized('invalid');
    if (token.kind === 'automation') return token;
    const notBefore = await store.read.organizations.notBefore(token.userId);
    return token.issuedAt < notBefore ? unauthorized('invalid') : token;
  }

  /** A person's role, read on every request: from the database, or from the token of another issuer. */
  async function roleOf(token: HumanToken, of: OrganizationId): Promise<Role | undefined> {
    if (token.memberships === undefined) {
      return (await store.read.organizations.membership(of, token.userId))?.role;
    }
    const claimed = token.memberships.find(({ organizationId }) => organizationId === of);
    // The other issuer may name organizations that do not exist here.
    const exists = claimed && (await store.read.organizations.find(of)) !== undefined;
    return exists === true ? claimed?.role : undefined;
  }

  return {
    async admitAutomation(operation, request) {
      const token = await authenticate(request);
      const selectors = readSelectors(request, tenantHeader);
      if (token.kind !== 'automation') return forbid();
      const required = requiredScopes(operation);
      // Already in the scope of the requested tenant, so that the handler can reuse the connection.
      const reached = await store.inTenantScope(selectors.tenantId, () =>
        store.read.clients.reach(token.oauthClientId, selectors.tenantId),
      );
      const { organizationId } = selectors;
      const { scopes: tokenScopes, issuedAt: tokenIssuedAt } = token;
      const claim = { organizationId, tokenScopes, tokenIssuedAt, required };
      const ruling = decideAccess(reached, claim);
      if (!ruling.ok) return deny(ruling.code, required);
      const { client, tenant, scopes } = ruling.value;
      return {
        kind: 'automation',
        client,
        tenant,
        scope: { organizationId, tenantId: tenant.id },
        scopes,
        required,
        tokenExpiresAt: token.expiresAt,
        tokenIssuedAt,
        credentialId: token.credentialId,
        subject: client.id,
      };
    },

    async admitHuman(request, organizationId) {
      const token = await authenticate(request);
      if (token.kind !== 'human' || !idPattern.test(organizationId)) return forbid();
      const { userId, expiresAt: tokenExpiresAt } = token;
      const role = await roleOf(token, organizationId);
      if (role === undefined || !mayManage(role)) return forbid();
      return { kind: 'human', userId, role, organizationId, tokenExpiresAt, subject: userId };
    },

    async admitAny(request) {
      const token = await authenticate(request);
      const { expiresAt: tokenExpiresAt } = token;
      if (token.kind === 'human') {
        const memberships =
          token.memberships ?? (await store.read.organizations.membershipsOf(token.userId));
        const organizationIds = memberships.map(({ organizationId }) => organizationId);
        return { kind: 'human', organizationIds, tokenExpiresAt, subject: token.userId };
      }
      const client = await store.read.clients.findByOAuthId(token.oauthClientId);
      if (client === undefined || client.status !== 'active') return forbid();
      if (token.issuedAt < client.notBefore) return unauthorized('invalid');
      return { kind: 'automation', client, tokenExpiresAt, subject: client.id };
    },

    async identify(request) {
      const token = await authenticate(request).catch(() => undefined);
      if (token === undefined) return { kind: 'anonymous', id: '' };
      if (token.kind === 'human') return { kind: 'user', id: token.userId };
      const client = await store.read.clients.findByOAuthId(token.oauthClientId);
      return { kind: 'client', id: client?.id ?? token.oauthClientId };
    },

    async recheck({ client, scope, scopes, required, tokenIssuedAt, credentialId }) {
      const { clients } = store.read;
      const { organizationId, tenantId } = scope;
      const reached =
        credentialId === undefined
          ? await clients.reach(client.oauthClientId, tenantId)
          : await clients.reachWith(credentialId, client.oauthClientId, tenantId);
      const claim = { organizationId, tokenScopes: scopes, tokenIssuedAt, required };
      return decideAccess(reached, claim).ok;
    },
  };
}

function deny(code: ErrorCode, required: readonly Scope[]): never {
  if (code === 'insufficient_scope') return lackScope(required);
  return code === 'unauthorized' ? unauthorized('invalid') : forbid();
}

function forbid(): never {
  return refuse('forbidden', { codeOnly: true });
}

/** RFC 6750 section 3.1: the challenge names the required scopes. */
function lackScope(required: readonly Scope[]): never {
  const challenge = `Bearer realm="convoke", error="insufficient_scope", scope="${required.join(' ')}"`;
  throw new Challenge('insufficient_scope', { codeOnly: true, challenge });
}
