import type {
  AcceptedInvitation as AcceptedRecord,
  InvitationRecord,
  IssuedInvitation as IssuedRecord,
  OfferedInvitation as OfferedRecord,
} from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type {
  AcceptedInvitation,
  IssuedInvitation,
  OfferedInvitation,
} from '../../app/people/invitations.ts';
import type { Invitation } from '../../domain/people/invitation.ts';
import { isoTime } from '../../domain/iso-time.ts';

export function invitationView(invitation: Invitation, names: Names): InvitationRecord {
  const { id, role, email, createdBy, createdAt, expiresAt } = invitation;
  return {
    id,
    role,
    email: email ?? undefined,
    created_by: createdBy,
    created_by_name: names.get(createdBy),
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  };
}

/** The secret follows the `#`, which a browser sends to no server. */
export function issuedInvitationView(
  { invitation, secret }: IssuedInvitation,
  { names, joinUrl }: { readonly names: Names; readonly joinUrl: string | undefined },
): IssuedRecord {
  const url = joinUrl === undefined ? undefined : `${joinUrl}#${secret}`;
  return { invitation: invitationView(invitation, names), secret, url };
}

export function offeredInvitationView(offered: OfferedInvitation): OfferedRecord {
  const { role, email, expiresAt } = offered.invitation;
  return {
    organization_name: offered.organization.name,
    role,
    email: email ?? undefined,
    expires_at: isoTime(expiresAt),
  };
}

export function acceptedInvitationView(accepted: AcceptedInvitation): AcceptedRecord {
  const { organization, userId, role } = accepted;
  return {
    organization_id: organization.id,
    organization_name: organization.name,
    user_id: userId,
    role,
  };
}
