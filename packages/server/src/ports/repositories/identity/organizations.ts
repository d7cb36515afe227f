import type { OrganizationId, UserId } from '@convoke/contract';
import type { ReachedPerson } from '../../../domain/access.ts';
import type { Role } from '../../../domain/member.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { PageRequest } from '../../page.ts';

export type { Role };

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: number;
}

export interface User {
  readonly id: UserId;
  readonly email: string;
  /** The name that the person chose (D-415). */
  readonly name?: string | null | undefined;
  readonly createdAt: number;
}

/** Identity of a person at another issuer. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export interface Membership {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly role: Role;
  readonly createdAt: number;
  /** An invitation gave it, so it also counts where another issuer decides roles (D-332). */
  readonly isInvited?: boolean;
}

export interface OrganizationMember {
  readonly user: Pick<User, 'id' | 'email' | 'name'>;
  readonly role: Role;
  readonly createdAt: number;
}

export interface OrganizationRepository {
  insert(organization: Organization): Promise<void>;
  /** Returns the person with this address; inserts the given one if there is none. */
  ensureUser(user: User): Promise<User>;
  insertMembership(membership: Membership): Promise<void>;
  saveRole(membership: Membership): Promise<void>;
  deleteMembership(membership: Membership): Promise<void>;
  countMembers(id: OrganizationId): Promise<number>;
  /** The members with their users, newest first or oldest first. */
  members(id: OrganizationId, page: PageRequest): Promise<OrganizationMember[]>;
  /** The names of these organizations; one that does not exist is missing. */
  names(ids: readonly OrganizationId[]): Promise<ReadonlyMap<OrganizationId, string>>;
  /** Those of these people that exist. */
  people(ids: readonly UserId[]): Promise<readonly Pick<User, 'id' | 'email' | 'name'>[]>;
  saveName(id: UserId, name: string | null): Promise<void>;
  /** How many members have each role; a role of none is missing. */
  countRoles(id: OrganizationId): Promise<ReadonlyMap<Role, number>>;
  countOwners(id: OrganizationId): Promise<number>;
  find(id: OrganizationId): Promise<Organization | undefined>;
  /** Locks the row until the transaction ends, so that limits are counted and used by one transaction at a time. */
  lock(id: OrganizationId): Promise<Organization | undefined>;
  findUser(id: UserId): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** Tokens of the user that were issued before this moment are refused; 0 when none are. */
  notBefore(id: UserId): Promise<number>;
  /** Refuses the tokens of the user that were issued before `at`. */
  endTokens(id: UserId, at: number): Promise<void>;
  /** The user of an identity; undefined before their first visit. */
  findIdentity(identity: Identity): Promise<Pick<User, 'id' | 'name'> | undefined>;
  /** Links the identity to the user, unless it is linked already; returns the user it is linked to. */
  claimIdentity(identity: Identity, user: UserId, now: number): Promise<UserId>;
  /** The person's membership in the organization, read on every request. */
  membership(id: OrganizationId, userId: UserId): Promise<Membership | undefined>;
  /**
   * D-154: the person's role, the tenant and the end of earlier tokens, in one read. Undefined for an unknown person.
   */
  reach(userId: UserId, scope: TenantScope): Promise<ReachedPerson | undefined>;
  membershipsOf(userId: UserId): Promise<Membership[]>;
  first(): Promise<Organization | undefined>;
  /** The organization, if the server has exactly one. */
  only(): Promise<Organization | undefined>;
}
