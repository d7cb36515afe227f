import type { InvitationId, OrganizationId, UserId } from '@convoke/contract';
import type { Invitation } from '../../../domain/people/invitation.ts';
import type { PageRequest } from '../../page.ts';

/** Invitations that were neither accepted nor revoked. One that has expired stays until the next is created. */
export interface InvitationRepository {
  insert(invitation: Invitation): Promise<void>;
  /** The invitation with this secret, unless it has expired. */
  find(secretHmac: string, now: number): Promise<Invitation | undefined>;
  list(of: OrganizationId, now: number, page: PageRequest): Promise<Invitation[]>;
  /** Counts the ones that have not expired, and deletes the others. */
  countOpen(of: OrganizationId, now: number): Promise<number>;
  /** Uses the invitation up, or revokes it. Undefined when it is no longer open: of two callers one gets it. */
  take(of: OrganizationId, id: InvitationId, now: number): Promise<Invitation | undefined>;
  /** Revokes every invitation that this person made. */
  removeBy(of: OrganizationId, person: UserId): Promise<void>;
}
