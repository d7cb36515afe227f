import { type InvitationId, type OrganizationId, type UserId, limits } from '@convoke/contract';
import type { Role } from '../member.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';

/**
 * An open invitation: its link lets one person join the organization with the role (D-331). Only a digest of the secret
 * is stored. It ends when it is accepted, revoked or expired.
 */
export interface Invitation {
  readonly id: InvitationId;
  readonly organizationId: OrganizationId;
  readonly secretHmac: string;
  readonly role: Role;
  /** Only the person with this address can accept; null for anyone who has the link. */
  readonly email: string | null;
  readonly createdBy: UserId;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const dayMs = 24 * 60 * 60 * 1000;

export function openInvitation(
  fresh: Omit<Invitation, 'createdAt' | 'expiresAt'>,
  now: number,
): Invitation {
  return { ...fresh, createdAt: now, expiresAt: now + limits.invitationDays * dayMs };
}

/** An admin manages the organization but cannot make owners, who alone could remove an owner. */
export function mayInvite(inviter: 'owner' | 'admin', role: Role): Ruling<Role> {
  return role === 'owner' && inviter !== 'owner'
    ? refused('forbidden', 'Only an owner can invite another owner.')
    : accepted(role);
}

export function mayAddInvitation(open: number): Ruling<undefined> {
  return open < limits.invitationsPerOrganization
    ? accepted(undefined)
    : refused('invitation_limit_reached');
}

/** The address is compared as it is stored: normalized. */
export function mayAccept({ email }: Invitation, address: string): Ruling<undefined> {
  return email === null || email === address
    ? accepted(undefined)
    : refused('invitation_for_another');
}
