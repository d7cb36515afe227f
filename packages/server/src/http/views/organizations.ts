import type { MeRecord, MemberRecord, OrganizationRecord } from '@convoke/contract';
import type { OrganizationOverview, Person } from '../../app/organizations.ts';
import { emailOf } from '../../app/people/people.ts';
import type { Role } from '../../domain/member.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { OrganizationMember } from '../../ports/repositories/identity/organizations.ts';

export function organizationView(
  { organization, counts }: OrganizationOverview,
  role: Role,
): OrganizationRecord {
  const { id, name, createdAt } = organization;
  return { id, name, role, created_at: isoTime(createdAt), counts };
}

export function memberView({ user, role, createdAt }: OrganizationMember): MemberRecord {
  const { id, name } = user;
  const created_at = isoTime(createdAt);
  return { user_id: id, name: name ?? undefined, email: emailOf(user), role, created_at };
}

export function meView({ user, memberships }: Person): MeRecord {
  return {
    user_id: user.id,
    name: user.name ?? undefined,
    email: emailOf(user),
    memberships: memberships.map(({ organizationId, organizationName, role }) => ({
      organization_id: organizationId,
      organization_name: organizationName,
      role,
    })),
  };
}
