import {
  type OrganizationId,
  type UserId,
  idPrefixes,
  organizationId,
  userId,
} from '@convoke/contract';
import type { Actor } from '../domain/audit.ts';
import { type Role, giveUpRole, readEmail, readOrganizationName } from '../domain/member.ts';
import type { PageRequest } from '../ports/page.ts';
import type {
  Membership,
  Organization,
  OrganizationMember,
  User,
} from '../ports/repositories/identity/organizations.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { recordAudit } from './audit.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';

type CreateServices = Pick<Services, 'clock' | 'ids'>;

/** Only an operator on the machine creates organizations; the API cannot. */
export async function createOrganization(
  services: CreateServices & Pick<Services, 'store'>,
  request: { readonly name: string; readonly by: Actor },
): Promise<Organization> {
  return services.store.transaction((tx) => openOrganization(services, tx, request));
}

export async function openOrganization(
  { clock, ids }: CreateServices,
  tx: StoreTransaction,
  { name, by }: { readonly name: string; readonly by: Actor },
): Promise<Organization> {
  const organization = {
    id: organizationId(ids.next(idPrefixes.organization)),
    name: orRefuse(readOrganizationName(name)),
    createdAt: clock.now(),
  };
  await tx.organizations.insert(organization);
  await tx.audit.open(organization.id);
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

/** An existing member gets the role; the same role again changes nothing and writes no audit row. */
export async function addMember(
  services: CreateServices & Pick<Services, 'store'>,
  request: AddMember,
): Promise<Member> {
  return services.store.transaction((tx) => joinOrganization(services, tx, request));
}

export async function joinOrganization(
  { clock, ids }: CreateServices,
  tx: StoreTransaction,
  request: AddMember,
): Promise<Member> {
  const { role, by } = request;
  const email = orRefuse(readEmail(request.email));
  const organization = await lockOrganization(tx, request.organizationId);
  const now = clock.now();
  const fresh = { id: userId(ids.next(idPrefixes.user)), email, createdAt: now };
  const user = await tx.organizations.ensureUser(fresh);
  const known = await tx.organizations.membership(organization.id, user.id);
  if (known?.role === role) return { user, membership: known };
  if (known !== undefined) await requireAnotherOwner(tx, known);
  const membership = {
    organizationId: organization.id,
    userId: user.id,
    role,
    createdAt: known?.createdAt ?? now,
  };
  if (known === undefined) await tx.organizations.insertMembership(membership);
  else await changeRole(tx, membership);
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

/** Also revokes the invitations that the person made: the new role might not have allowed them. */
export async function changeRole(tx: StoreTransaction, membership: Membership): Promise<void> {
  await tx.organizations.saveRole(membership);
  await tx.invitations.removeBy(membership.organizationId, membership.userId);
}

/**
 * Also revokes the invitations that the person made. Membership is read on every request, so the person's tokens stop
 * working here with the next one.
 */
export async function removeMember(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  request: Omit<AddMember, 'role'>,
): Promise<Member> {
  const email = orRefuse(readEmail(request.email));
  return store.transaction(async (tx) => {
    const organization = await lockOrganization(tx, request.organizationId);
    const user = await tx.organizations.findUserByEmail(email);
    const membership = user && (await tx.organizations.membership(organization.id, user.id));
    if (user === undefined || membership === undefined) {
      return refuse('not_found', { message: `${email} is not a member of ${organization.id}.` });
    }
    await endMembership(tx, { user, membership }, { by: request.by, now: clock.now() });
    return { user, membership };
  });
}

export async function endMembership(
  tx: StoreTransaction,
  { user, membership }: Member,
  { by, now }: { readonly by: Actor; readonly now: number },
): Promise<void> {
  const { organizationId: organization, role } = membership;
  await requireAnotherOwner(tx, membership);
  await tx.organizations.deleteMembership(membership);
  await tx.invitations.removeBy(organization, user.id);
  await recordAudit(tx, {
    chain: organization,
    at: now,
    by,
    action: 'member.remove',
    object: user.id,
    details: { email: user.email, role },
  });
}

/** The organization is locked, so two owners cannot both leave at the same time. */
export async function requireAnotherOwner(
  tx: StoreTransaction,
  { organizationId: id, role }: Membership,
): Promise<void> {
  orRefuse(giveUpRole(role, await tx.organizations.countOwners(id)));
}

async function lockOrganization(tx: StoreTransaction, id: OrganizationId): Promise<Organization> {
  const message = `There is no organization ${id}.`;
  return (await tx.organizations.lock(id)) ?? refuse('not_found', { message });
}

export async function findPerson({ store }: Pick<Services, 'store'>, email: string): Promise<User> {
  const user = await store.read.organizations.findUserByEmail(orRefuse(readEmail(email)));
  const message = `There is no member ${email}; add one with \`convoke admin member add\`.`;
  return user ?? refuse('not_found', { message });
}

export interface OrganizationOverview {
  readonly organization: Organization;
  readonly counts: { readonly tenants: number; readonly clients: number; readonly members: number };
}

export async function getOrganization(
  { store }: Pick<Services, 'store'>,
  id: OrganizationId,
): Promise<OrganizationOverview> {
  const { organizations, tenants, clients } = store.read;
  const organization = (await organizations.find(id)) ?? refuse('forbidden', { codeOnly: true });
  const counts = {
    tenants: await tenants.countLive(id),
    clients: await clients.countLive(id),
    members: await organizations.countMembers(id),
  };
  return { organization, counts };
}

export async function listMembers(
  { store }: Pick<Services, 'store'>,
  id: OrganizationId,
  page: PageRequest,
): Promise<OrganizationMember[]> {
  return store.read.organizations.members(id, page);
}

export interface Person {
  readonly user: Pick<User, 'id' | 'email' | 'name'>;
  readonly memberships: readonly (Pick<Membership, 'organizationId' | 'role'> & {
    readonly organizationName: string;
  })[];
}

/** The person with the names of their organizations. One that another issuer names but that is not here is left out. */
export async function describePerson(
  { store }: Pick<Services, 'store'>,
  id: UserId,
  claimed: readonly Pick<Membership, 'organizationId' | 'role'>[],
): Promise<Person> {
  const { organizations } = store.read;
  const user = (await organizations.findUser(id)) ?? refuse('forbidden', { codeOnly: true });
  const names = await organizations.names(claimed.map(({ organizationId: one }) => one));
  const memberships = claimed.flatMap(({ organizationId: one, role }) => {
    const organizationName = names.get(one);
    return organizationName === undefined ? [] : [{ organizationId: one, role, organizationName }];
  });
  return { user, memberships };
}
