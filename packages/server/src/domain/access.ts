import {
  type CredentialId,
  type OrganizationId,
  type Scope,
  type SessionId,
  type UserId,
  profiles,
} from '@convoke/contract';
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

/** The live rows of a person in one organization and tenant. Read together on every request (D-154). */
export interface ReachedPerson {
  /** The role in the organization; undefined when the person does not belong to it. */
  readonly role: Role | undefined;
  /** An invitation gave the role, so it counts for a person of another issuer, too (D-332). */
  readonly isInvited: boolean;
  /** Tokens from before the person was signed out everywhere are refused. */
  readonly notBefore: number;
  /** The tenant, if it belongs to the organization. */
  readonly tenant?: ReachedTenant;
}

/** Who acts in a tenant: an automation client, or a person with a token for the tenant. */
export interface ApplicationActor {
  readonly kind: 'client' | 'user';
  /** The id of the record: `cli_…` or `usr_…`. */
  readonly id: string;
}

/** What distinguishes the two kinds of callers. Only the gate and `whoami` look at it. */
export type CallerIdentity = ClientIdentity | PersonIdentity;

export interface ClientIdentity {
  readonly kind: 'client';
  readonly client: ReachedClient;
  /** The credential that obtained the token. Absent in tokens of an older server. */
  readonly credentialId: CredentialId | undefined;
}

/** D-198: the one session that a caller's token opens. */
export interface OwnSession {
  readonly id: SessionId;
  /** The user of the product that the token was created for, by the product's own name. */
  readonly endUser: string | undefined;
}

export interface PersonIdentity {
  readonly kind: 'person';
  readonly userId: UserId;
  readonly role: Role;
  /** The role according to another issuer, which then decides instead of the database. */
  readonly claimedRole: Role | undefined;
}

/** A caller of the application API that passed the gate, with its scopes in the tenant it selected. */
export interface ApplicationCaller {
  readonly kind: 'application';
  readonly actor: ApplicationActor;
  readonly identity: CallerIdentity;
  readonly organizationId: OrganizationId;
  readonly tenant: ReachedTenant;
  readonly scope: TenantScope;
  /** Scopes that both the token and the live client or role grant. */
  readonly scopes: ReadonlySet<Scope>;
  /** Scopes that the operation requires. An open stream is checked against them again. */
  readonly required: readonly Scope[];
  readonly tokenExpiresAt: number;
  readonly tokenIssuedAt: number;
  /** Set for a token of one session: the caller reaches no other. */
  readonly session: OwnSession | undefined;
  /** What limits count by: the actor, and the session if the token is for one (D-200). */
  readonly subject: string;
}

/** The current access of a caller that was admitted earlier. */
export interface Standing {
  readonly hasAccess: boolean;
  /** When the credential of its token was revoked. It ends the streams opened before, not later ones (spec §5.7). */
  readonly revokedAt: number | undefined;
}

/**
 * The same for callers about whom every later decision is the same: for all that one depends on, and the token's end.
 */
export function decisionKey(caller: ApplicationCaller): string {
  const { identity, scope, scopes, required, tokenIssuedAt, tokenExpiresAt } = caller;
  const who =
    identity.kind === 'client'
      ? [identity.client.oauthClientId, identity.credentialId]
      : [identity.userId, identity.claimedRole];
  const where = [scope.organizationId, scope.tenantId];
  const token = [Array.from(scopes), required, tokenIssuedAt, tokenExpiresAt];
  return JSON.stringify([identity.kind, who, where, token]);
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
  const scopes = scopesInBoth(client.scopes, claim.tokenScopes);
  if (!claim.required.every((scope) => scopes.has(scope))) return refused('insufficient_scope');
  return accepted({ client, tenant, scopes });
}

/** A token seldom has a scope that its client has lost: else no set is made for the request. */
function scopesInBoth(own: readonly Scope[], asked: ReadonlySet<Scope>): ReadonlySet<Scope> {
  for (const scope of asked) {
    if (!own.includes(scope)) return new Set(own.filter((kept) => asked.has(kept)));
  }
  return asked;
}

export interface PersonClaim {
  /** The role according to another issuer; undefined where the database decides. */
  readonly claimedRole: Role | undefined;
  /** Undefined before a token exists: then the role alone limits the scopes. */
  readonly tokenScopes: ReadonlySet<Scope> | undefined;
  readonly tokenIssuedAt: number;
  readonly required: readonly Scope[];
}

export interface PersonAccess {
  readonly role: Role;
  readonly tenant: ReachedTenant;
  readonly scopes: ReadonlySet<Scope>;
}

/**
 * D-154: decides what a person may do in a tenant now, from the live rows. As for machines, every problem of the
 * organization, the membership or the tenant gives the same refusal.
 */
export function decidePersonAccess(
  reached: ReachedPerson | undefined,
  claim: PersonClaim,
): Ruling<PersonAccess> {
  if (reached === undefined || claim.tokenIssuedAt < reached.notBefore) {
    return refused('unauthorized');
  }
  const role = claim.claimedRole ?? reached.role;
  const { tenant } = reached;
  if (role === undefined || tenant === undefined || !isUsableTenant(tenant)) {
    return refused('forbidden');
  }
  const granted = scopesOfRole(role);
  if (granted.length === 0) return refused('forbidden');
  const { tokenScopes } = claim;
  const scopes = new Set(granted.filter((scope) => tokenScopes?.has(scope) ?? true));
  if (!claim.required.every((scope) => scopes.has(scope))) return refused('insufficient_scope');
  return accepted({ role, tenant, scopes });
}

/** D-153: what a role allows in the tenants of its organization. */
function scopesOfRole(role: Role): readonly Scope[] {
  switch (role) {
    case 'owner':
    case 'admin':
    case 'operator':
      return profiles.invoke;
    case 'viewer':
      return profiles.observe;
    case 'member':
      return [];
    default:
      return role satisfies never;
  }
}

/** Spec §4.3: management is for owners and admins. */
export function mayManage(role: Role): role is 'owner' | 'admin' {
  return role === 'owner' || role === 'admin';
}
