import type { OrganizationId, UserId } from '@convoke/contract';
import type { Role } from '../../domain/member.ts';

export type { Role };

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: number;
}

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly createdAt: number;
}

/** A person as another issuer names them. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export interface Membership {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly role: Role;
  readonly createdAt: number;
}

export interface OrganizationRepository {
  insert(organization: Organization): Promise<void>;
  /** The person with this address: the one who is known, or the one given. */
  ensureUser(user: User): Promise<User>;
  insertMembership(membership: Membership): Promise<void>;
  saveRole(membership: Membership): Promise<void>;
  deleteMembership(membership: Membership): Promise<void>;
  countOwners(id: OrganizationId): Promise<number>;
  find(id: OrganizationId): Promise<Organization | undefined>;
  /** Holds the row until the transaction ends, so that what it limits is counted and added by one at a time. */
  lock(id: OrganizationId): Promise<Organization | undefined>;
  findUser(id: UserId): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** Who the subject of another issuer is here; undefined before the first visit. */
  findIdentity(identity: Identity): Promise<UserId | undefined>;
  /** Takes the identity for the user; gives whoever has it. */
  claimIdentity(identity: Identity, user: UserId, now: number): Promise<UserId>;
  /** The person's standing in the organization, read anew on every request. */
  membership(id: OrganizationId, userId: UserId): Promise<Membership | undefined>;
  membershipsOf(userId: UserId): Promise<Membership[]>;
  first(): Promise<Organization | undefined>;
}
