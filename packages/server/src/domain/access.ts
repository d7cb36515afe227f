import type { CredentialId, OrganizationId, Scope, UserId } from '@convoke/contract';
import { type Client, isBoundTo } from './client.ts';
import type { Role } from './member.ts';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { TenantScope } from './scope.ts';
import { type Tenant, isUsableTenant } from './tenant.ts';

/** The fields of the live client and tenant rows that an access decision needs. Read on every request. */
export type ReachedClient = Pick<
  Client,
  | 'id'
  | 'organizationId'
  | 'oauthClientId'
  | 'profile'
  | 'scopes'
  | 'tenantIds'
  | 'status'
  | 'notBefore'
>;
export type ReachedTenant = Pick<Tenant, 'id' | 'status' | 'attachmentState'>;

/** The client, unless it was deleted; the tenant, if it belongs to the client's organization. */
export interface Reach {
  readonly client: ReachedClient;
  readonly tenant?: ReachedTenant;
}

/** An automation client that passed the gate, with its scopes in the tenant it selected. */
export interface AutomationCaller {
  readonly kind: 'automation';
  readonly client: ReachedClient;
  readonly tenant: ReachedTenant;
  readonly scope: TenantScope;
  /** Scopes that both the token and the live client grant. */
  readonly scopes: ReadonlySet<Scope>;
  /** Scopes that the operation requires. An open stream is checked against them again. */
  readonly required: readonly Scope[];
  readonly tokenExpiresAt: number;
  readonly tokenIssuedAt: number;
  /** The credential that obtained the token. Absent in tokens of an older server. */
  readonly credentialId: CredentialId | undefined;
  /** The client's record id, which records name as the actor. */
  readonly subject: string;
}

/** An owner or admin of the organization in the path. */
export interface HumanCaller {
  readonly kind: 'human';
  readonly userId: UserId;
  readonly role: 'owner' | 'admin';
  readonly organizationId: OrganizationId;
  readonly tokenExpiresAt: number;
  readonly subject: string;
}

export interface Claim {
  readonly organizationId: OrganizationId;
  readonly tokenScopes: ReadonlySet<Scope>;
  readonly tokenIssuedAt: number;
  readonly required: readonly Scope[];
}

export interface Access {
  readonly client: ReachedClient;
  readonly tenant: ReachedTenant;
  readonly scopes: ReadonlySet<Scope>;
}

/**
 * D-52, D-54: decides what a machine may do now, from the live rows. Every problem of the client, the
 * organization or the tenant gives the same refusal, so that a caller cannot find out which tenants exist.
 * Only a client with access to the tenant learns that a scope is missing. A token from before the client was
 * disabled is `unauthorized`, so that the client obtains another.
 */
export function decideAccess(reached: Reach | undefined, claim: Claim): Ruling<Access> {
  if (reached === undefined || reached.client.status !== 'active') return refused('forbidden');
  const { client, tenant } = reached;
  if (client.organizationId !== claim.organizationId) return refused('forbidden');
  if (claim.tokenIssuedAt < client.notBefore) return refused('unauthorized');
  if (tenant === undefined || !isUsableTenant(tenant)) return refused('forbidden');
  if (!isBoundTo(client, tenant.id)) return refused('forbidden');
  const scopes = new Set(client.scopes.filter((scope) => claim.tokenScopes.has(scope)));
  if (!claim.required.every((scope) => scopes.has(scope))) return refused('insufficient_scope');
  return accepted({ client, tenant, scopes });
}

/** Spec §4.3: management is for owners and admins. */
export function mayManage(role: Role): role is 'owner' | 'admin' {
  return role === 'owner' || role === 'admin';
}
