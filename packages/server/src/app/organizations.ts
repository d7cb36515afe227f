import { type OrganizationId, idPrefixes, organizationId, userId } from '@convoke/contract';
import type { Actor } from '../domain/audit.ts';
import { type Role, readEmail, readOrganizationName } from '../domain/member.ts';
import type { Membership, Organization, User } from '../ports/repositories/organizations.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { recordAudit } from './audit.ts';
import { granted, refuse } from './refusal.ts';
import type { Services } from './services.ts';

type Making = Pick<Services, 'clock' | 'ids'>;

/** No API makes organizations: an operator does, on the machine. */
export async function createOrganization(
  services: Making & Pick<Services, 'store'>,
  request: { readonly name: string; readonly by: Actor },
): Promise<Organization> {
  return services.store.transaction((tx) => openOrganization(services, tx, request));
}

export async function openOrganization(
  { clock, ids }: Making,
  tx: StoreTransaction,
  { name, by }: { readonly name: string; readonly by: Actor },
): Promise<Organization> {
  const organization = {
    id: organizationId(ids.next(idPrefixes.organization)),
    name: granted(readOrganizationName(name)),
    createdAt: clock.now(),
  };
  await tx.organizations.insert(organization);
  await recordAudit(tx, {
    chain: organization.id,
    at: organization.createdAt,
    by,
    action: 'organization.create',
    object: organization.id,
    details: { name: organization.name },
  });
  return organization;
}

export interface AddMember {
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: Role;
  readonly by: Actor;
}

export interface Member {
  readonly user: User;
  readonly membership: Membership;
}

/** Who is a member already gets the role; the same again changes nothing and leaves no row. */
export async function addMember(
  services: Making & Pick<Services, 'store'>,
  request: AddMember,
): Promise<Member> {
  return services.store.transaction((tx) => joinOrganization(services, tx, request));
}

export async function joinOrganization(
  { clock, ids }: Making,
  tx: StoreTransaction,
  request: AddMember,
): Promise<Member> {
  const { role, by } = request;
  const email = granted(readEmail(request.email));
  const organization = await tx.organizations.lock(request.organizationId);
  if (organization === undefined) {
    return refuse('not_found', { message: `There is no organization ${request.organizationId}.` });
  }
  const now = clock.now();
  const fresh = { id: userId(ids.next(idPrefixes.user)), email, createdAt: now };
  const user = await tx.organizations.ensureUser(fresh);
  const known = await tx.organizations.membership(organization.id, user.id);
  if (known?.role === role) return { user, membership: known };
  const membership = {
    organizationId: organization.id,
    userId: user.id,
    role,
    createdAt: known?.createdAt ?? now,
  };
  if (known === undefined) await tx.organizations.insertMembership(membership);
  else await tx.organizations.saveRole(membership);
  await recordAudit(tx, {
    chain: organization.id,
    at: now,
    by,
    action: 'member.add',
    object: user.id,
    details: { email, role, ...(known === undefined ? {} : { previous_role: known.role }) },
  });
  return { user, membership };
}

export async function findPerson({ store }: Pick<Services, 'store'>, email: string): Promise<User> {
  const user = await store.read.organizations.findUserByEmail(granted(readEmail(email)));
  const message = `There is no member ${email}; add one with \`convoke admin member add\`.`;
  return user ?? refuse('not_found', { message });
}
