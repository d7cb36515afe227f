import {
  type ClientId,
  type ClientStatus,
  type OrganizationId,
  type Profile,
  type Scope,
  type TenantId,
  limits,
  scopesOf,
} from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * An automation client: a machine's identity inside one organization.
 *
 * - `active`: its credentials obtain tokens and the gate accepts its tokens.
 * - `disabled`: neither, from the next request on. It keeps its credentials and can be enabled again.
 * - deleted (`deletedAt`): the API no longer shows it. Its credentials are revoked with it. Final.
 *
 * `version` rises by one with every change, and every change names the version it saw (spec §9.4).
 */
export interface Client {
  readonly id: ClientId;
  readonly organizationId: OrganizationId;
  /** The OAuth client id; different from the record's `id`. */
  readonly oauthClientId: string;
  readonly name: string;
  readonly description: string | null;
  readonly profile: Profile;
  readonly scopes: readonly Scope[];
  /** The only tenants it can access; null: all of the organization, also later ones. */
  readonly tenantIds: readonly TenantId[] | null;
  readonly status: ClientStatus;
  readonly version: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
  /** Tokens that were issued before are refused: enabling a client again must not revive its old ones. */
  readonly notBefore: number;
}

/** A new profile; or only other scopes, for a client whose profile is `custom`. */
export type PermissionChange = Partial<Permissions>;

/** A profile; `custom` names its scopes. */
export interface Permissions {
  readonly profile: Profile;
  readonly scopes?: readonly Scope[] | undefined;
}

export type NewClient = Pick<
  Client,
  'id' | 'organizationId' | 'oauthClientId' | 'name' | 'createdBy'
> & {
  readonly description?: string | undefined;
  readonly permissions: Permissions;
  readonly tenantIds?: readonly TenantId[] | undefined;
};

export function openClient(fresh: NewClient, now: number): Client {
  const { permissions, description, tenantIds, ...identity } = fresh;
  return {
    ...identity,
    description: textOrNull(description),
    ...granted(permissions),
    tenantIds: tenantIds ?? null,
    status: 'active',
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    notBefore: 0,
  };
}

/** Whether the tenants that the client is bound to include this one. */
export function isBoundTo({ tenantIds }: Pick<Client, 'tenantIds'>, tenantId: TenantId): boolean {
  return tenantIds === null || tenantIds.includes(tenantId);
}

/** Spec §8: at most 20 clients per organization that are not deleted. */
export function mayAddClient(liveClients: number): Ruling<undefined> {
  return liveClients < limits.clientsPerOrganization
    ? accepted(undefined)
    : refused('client_limit_reached');
}

export interface ClientChange {
  /** The version the caller saw. */
  readonly version: number;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly permissions?: PermissionChange | undefined;
  readonly status?: ClientStatus | undefined;
}

/** D-64: a status change cannot be combined with others, whatever client it is for (D-52). */
export function checkChange(change: ClientChange): Ruling<undefined> {
  const { name, description, permissions, status } = change;
  const hasOther = name !== undefined || description !== undefined || permissions !== undefined;
  if (status !== undefined && hasOther) return refused('status_change_not_combinable');
  return accepted(undefined);
}

/** D-64: a change needs the current version. */
export function changeClient(client: Client, change: ClientChange, now: number): Ruling<Client> {
  const { name, description, permissions, status } = change;
  if (change.version !== client.version) return refused('version_conflict');
  const profile = permissions?.profile ?? client.profile;
  if (permissions?.scopes !== undefined && profile !== 'custom') {
    const message = `scopes: the profile of this client is ${profile}; send profile: custom with them.`;
    return refused('invalid_body', message);
  }
  return accepted({
    ...client,
    name: name ?? client.name,
    description: description === undefined ? client.description : textOrNull(description),
    ...(permissions === undefined ? {} : granted({ profile, scopes: permissions.scopes })),
    status: status ?? client.status,
    notBefore: status === 'disabled' ? now : client.notBefore,
    version: client.version + 1,
    updatedAt: now,
  });
}

/** A deleted client can do as little as a disabled one, and is shown so while its cleanup continues. */
export function deleteClient(client: Client, now: number): Client {
  return { ...client, status: 'disabled', updatedAt: now, deletedAt: now };
}

function granted({ profile, scopes }: Permissions): Pick<Client, 'profile' | 'scopes'> {
  return { profile, scopes: scopesOf(profile, scopes) };
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}
