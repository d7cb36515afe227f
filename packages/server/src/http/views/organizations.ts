import type { MeRecord, MemberRecord, OrganizationRecord } from '@convoke/contract';
import type { OrganizationOverview, Person } from '../../app/organizations.ts';
import { unknownEmailEnding } from '../../app/people/people.ts';
import type { Role } from '../../domain/member.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { OrganizationMember } from '../../ports/repositories/organizations.ts';

export function organizationView(
  { organization, counts }: OrganizationOverview,
  role: Role,
): OrganizationRecord {
  const { id, name, createdAt } = organization;
  return { id, name, role, created_at: isoTime(createdAt), counts };
}

export function memberView({ user, role, createdAt }: OrganizationMember): MemberRecord {
  return { user_id: user.id, email: emailOf(user), role, created_at: isoTime(createdAt) };
}

export function meView({ user, memberships }: Person): MeRecord {
  return {
    user_id: user.id,
    email: emailOf(user),
    memberships: memberships.map(({ organizationId, organizationName, role }) => ({
      organization_id: organizationId,
      organization_name: organizationName,
      role,
    })),
  };
}

function emailOf({ email }: { readonly email: string }): string | undefined {
  return email.endsWith(unknownEmailEnding) ? undefined : email;
}
