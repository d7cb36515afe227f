import {
  type ErrorCode,
  type Operation,
  type OrganizationId,
  type Scope,
  type UserId,
  idPattern,
  isOpenToSessionTokens,
  mcpScopes,
  requiredScopes,
} from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import {
  type ApplicationCaller,
  type HumanCaller,
  type Standing,
  mayManage,
} from '../domain/access.ts';
import type { Actor } from '../domain/audit.ts';
import type { Role } from '../domain/member.ts';
import type { TenantReach } from '../ports/repositories/identity/tenants.ts';
import type { Store } from '../ports/store.ts';
import { createApplicationAccess } from './application-access.ts';
import { metadataOfResource } from './sign-in/assistants/mcp-resource.ts';
import { type GateRequest, bearerToken, unauthorized } from './tokens/bearer.ts';
import { Challenge } from './tokens/challenge.ts';
import {
  type Selectors,
  type TenantHeader,
  areSelectorsOf,
  readSelectors,
  selectorsIn,
} from './selectors.ts';
import type { Tokens } from './tokens/tokens.ts';
import type {
  ClaimedMembership,
  HumanToken,
  PersonTenantToken,
  SessionToken,
  VerifiedToken,
} from './tokens/verified-token.ts';

/**
 * Checks the caller of a request: 401 token, then 400 selectors, then 403 access (D-52). A denial contains only its
 * code (spec §5.4). The token proves who calls; permissions are read from the database on every request (D-51), so a
 * revocation takes effect on the next request.
 */
export interface Gate {
  /** The application API: automation clients, people whose token is for the tenant (D-154), and pages (D-198). */
  admitApplication(
    operation: Operation,
    request: GateRequest,
    /** Of the path, as they were sent. */
    params?: Readonly<Record<string, string>>,
  ): Promise<ApplicationCaller>;
  /** The management API of the organization in the path. */
  admitHuman(request: GateRequest, organizationId: OrganizationId): Promise<HumanCaller>;
  /** `GET /v1/me/workspaces`: either kind, before anything is selected (D-55). */
  admitAny(request: GateRequest, operation?: Pick<Operation, 'only'>): Promise<AnyCaller>;
  /** The actor of a denied request, if its token is valid. Never refuses. */
  identify(request: GateRequest): Promise<Pick<Actor, 'kind' | 'id'>>;
  /**
   * For open streams (D-33): whether the caller still has access, and when its credential was revoked. Ignores the
   * expiry of the token, at which the streams end anyway.
   */
  recheck(caller: ApplicationCaller): Promise<Standing>;
}

/** `subject` names the client or the person; `reach` says which tenants it may select. */
export type AnyCaller = {
  readonly reach: TenantReach;
  readonly tokenExpiresAt: number;
  readonly subject: string;
} & (
  | { readonly kind: 'automation'; readonly organizationId: OrganizationId }
  | {
      readonly kind: 'human';
      readonly userId: UserId;
      /** Every organization that the token opens, in any role. */
      readonly memberships: readonly ClaimedMembership[];
    }
);

interface GateOptions {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly tenantHeader: TenantHeader;
  readonly baseUrl: string;
}

export function createGate({ store, tokens, tenantHeader, baseUrl }: GateOptions): Gate {
  const access = createApplicationAccess(store);

  async function verify(request: GateRequest): Promise<VerifiedToken> {
    return (await tokens.verify(bearerToken(request))) ?? unauthorized('invalid');
  }

  /** Refuses the token of a person who was signed out everywhere after it was issued. */
  async function requireCurrent(token: VerifiedToken): Promise<VerifiedToken> {
    if (token.kind === 'automation' || token.kind === 'session') return token;
    const notBefore = await store.read.organizations.notBefore(token.userId);
    return token.issuedAt < notBefore ? unauthorized('invalid') : token;
  }

  const authenticate = async (request: GateRequest) => requireCurrent(await verify(request));

  /**
   * A person's role, read on every request: from the database, or from the token of another issuer. Where that names no
   * role in the organization, the one that an invitation gave counts (D-332).
   */
  async function roleOf(token: HumanToken, of: OrganizationId): Promise<Role | undefined> {
    const claimed = token.memberships?.find(({ organizationId }) => organizationId === of);
    if (claimed === undefined) {
      const stored = await store.read.organizations.membership(of, token.userId);
      return token.memberships === undefined || stored?.isInvited === true
        ? stored?.role
        : undefined;
    }
    // The other issuer may name organizations that do not exist here.
    const exists = (await store.read.organizations.find(of)) !== undefined;
    return exists ? claimed.role : undefined;
  }

  async function membershipsOf(token: HumanToken): Promise<readonly ClaimedMembership[]> {
    const stored = await store.read.organizations.membershipsOf(token.userId);
    const { memberships: claimed } = token;
    if (claimed === undefined) return stored;
    const named = new Set(claimed.map(({ organizationId }) => organizationId));
    const invited = stored.filter(
      ({ organizationId, isInvited }) => isInvited === true && !named.has(organizationId),
    );
    return [...claimed, ...invited];
  }

  async function personOf(token: HumanToken) {
    const { userId } = token;
    const memberships = await membershipsOf(token);
    const organizationIds = memberships.map(({ organizationId }) => organizationId);
    const reach = { organizationIds, tenantIds: null };
    return { kind: 'human', userId, memberships, reach, subject: userId } as const;
  }

  /** A token for one tenant lists that tenant only, while it gives access to it. */
  async function personInTenant(token: PersonTenantToken) {
    const { userId, organizationId, tenantId } = token;
    const selectors = { organizationId, tenantId };
    const ruling = await access.ofPerson(token, { selectors, required: [] });
    if (!ruling.ok) return deny(ruling.code, []);
    const { identity } = ruling.value;
    const memberships = identity.kind === 'person' ? [{ organizationId, role: identity.role }] : [];
    const reach = { organizationIds: [organizationId], tenantIds: [tenantId] };
    return { kind: 'human', userId, memberships, reach, subject: userId } as const;
  }

  /**
   * D-198. Which session the path names is compared later, where a session that does not exist is noticed: both must
   * look the same.
   */
  async function admitSession(token: SessionToken, operation: Operation, request: GateRequest) {
    if (!areSelectorsOf(request, token) || !isOpenToSessionTokens(operation)) return forbid();
    const required = requiredScopes(operation);
    const ruling = await access.ofSession(token, required);
    return ruling.ok ? ruling.value : deny(ruling.code, required);
  }

  return {
    async admitApplication(operation, request, params = {}) {
      const token = await verify(request).catch((error: unknown) =>
        refuseAt(error, operation, { baseUrl, params }),
      );
      if (token.kind === 'session') return admitSession(token, operation, request);
      // The one read of D-154 includes this check for a person's token of a tenant.
      if (token.kind === 'human') await requireCurrent(token);
      const selectors =
        operation.selectors === 'path'
          ? selectedBy(params, request)
          : readSelectors(request, tenantHeader);
      // D-55: signing in gives no access to the application API.
      if (token.kind === 'human') return forbid();
      if (token.kind === 'person' && operation.only === 'clients') return forbid();
      // D-623: an assistant's token opens its face, and no other token of a person does.
      if (token.kind === 'person' && token.face !== operation.face) return forbid();
      const required = requiredScopes(operation);
      const asked = { selectors, required };
      const ruling = await (token.kind === 'automation'
        ? access.ofClient(token, asked)
        : access.ofPerson(token, asked));
      return ruling.ok ? ruling.value : deny(ruling.code, required);
    },

    async admitHuman(request, organizationId) {
      const token = await authenticate(request);
      if (token.kind !== 'human' || !idPattern.test(organizationId)) return forbid();
      const { userId, expiresAt: tokenExpiresAt } = token;
      const role = await roleOf(token, organizationId);
      if (role === undefined || !mayManage(role)) return forbid();
      return { kind: 'human', userId, role, organizationId, tokenExpiresAt, subject: userId };
    },

    async admitAny(request, operation) {
      const token = await authenticate(request);
      const { expiresAt: tokenExpiresAt } = token;
      switch (token.kind) {
        case 'human':
          return { ...(await personOf(token)), tokenExpiresAt };
        case 'person':
          // A token of one tenant opens no other organization.
          if (operation?.only === 'sign-in' || token.face !== undefined) return forbid();
          return { ...(await personInTenant(token)), tokenExpiresAt };
        case 'session':
          return forbid();
        case 'automation': {
          const client = await store.read.clients.findByOAuthId(token.oauthClientId);
          if (client === undefined || client.status !== 'active') return forbid();
          if (token.issuedAt < client.notBefore) return unauthorized('invalid');
          if (operation?.only !== undefined) return forbid();
          const { id: subject, organizationId, tenantIds } = client;
          const reach = { organizationIds: [organizationId], tenantIds };
          return { kind: 'automation', organizationId, reach, tokenExpiresAt, subject };
        }
        default:
          return token satisfies never;
      }
    },

    async identify(request) {
      const token = await authenticate(request).catch(() => undefined);
      if (token === undefined) return { kind: 'anonymous', id: '' };
      if (token.kind === 'human' || token.kind === 'person') {
        return { kind: 'user', id: token.userId };
      }
      const client = await store.read.clients.findByOAuthId(token.oauthClientId);
      return { kind: 'client', id: client?.id ?? token.oauthClientId };
    },

    recheck: (caller) => access.again(caller),
  };
}

/** D-234: headers beside the path may be absent, but not name anything else. */
function selectedBy(params: Readonly<Record<string, string>>, request: GateRequest): Selectors {
  const selectors = selectorsIn(params);
  return selectors !== undefined && areSelectorsOf(request, selectors) ? selectors : forbid();
}

/** D-619: what answers 401 at a face names the document that says where a person signs in. */
function refuseAt(
  error: unknown,
  operation: Operation,
  {
    baseUrl,
    params,
  }: { readonly baseUrl: string; readonly params: Readonly<Record<string, string>> },
): never {
  const tenant = operation.face === undefined ? undefined : selectorsIn(params);
  if (!(error instanceof Challenge) || tenant === undefined) throw error;
  const metadata = metadataOfResource(baseUrl, tenant);
  const more = `resource_metadata="${metadata}", scope="${mcpScopes.join(' ')}"`;
  const challenge = `${error.challenge}, ${more}`;
  throw new Challenge(error.code, { codeOnly: true, challenge });
}

function deny(code: ErrorCode, required: readonly Scope[]): never {
  if (code === 'insufficient_scope') return lackScope(required);
  return code === 'unauthorized' ? unauthorized('invalid') : forbid();
}

function forbid(): never {
  return refuse('forbidden', { codeOnly: true });
}

/** Refuses a caller that lacks one of these scopes, which the operation needs for some requests only. */
export function requireScopes(
  { scopes }: Pick<ApplicationCaller, 'scopes'>,
  ...required: readonly Scope[]
): void {
  if (required.some((scope) => !scopes.has(scope))) lackScope(required);
}

/** RFC 6750 section 3.1: the challenge names the required scopes. */
function lackScope(required: readonly Scope[]): never {
  const challenge = `Bearer realm="convoke", error="insufficient_scope", scope="${required.join(' ')}"`;
  throw new Challenge('insufficient_scope', { codeOnly: true, challenge });
}
