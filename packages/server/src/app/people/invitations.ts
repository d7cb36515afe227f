import {
  type InvitationId,
  type OrganizationId,
  type UserId,
  idPrefixes,
  invitationId,
  userId,
} from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import {
  type Invitation,
  mayAccept,
  mayAddInvitation,
  mayInvite,
  openInvitation,
} from '../../domain/people/invitation.ts';
import { type Role, readEmail, readPersonName } from '../../domain/member.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { Organization, User } from '../../ports/repositories/identity/organizations.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { once } from '../once.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { saveSecret } from './sign-in-links.ts';

export type InvitationServices = Pick<Services, 'store' | 'clock' | 'ids'> & {
  readonly secrets: Secrets;
};

export interface CreateInvitation {
  readonly role: Role;
  readonly email: string | undefined;
  readonly inviter: { readonly userId: UserId; readonly role: 'owner' | 'admin' };
  readonly idempotencyKey: string;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

export interface IssuedInvitation {
  readonly invitation: Invitation;
  /** For the one response that shows it. */
  readonly secret: string;
}

/** D-331. Locks the organization, so that parallel requests cannot exceed the limit. */
export async function createInvitation(
  { store, clock, ids, secrets }: InvitationServices,
  organizationId: OrganizationId,
  request: CreateInvitation,
): Promise<IssuedInvitation> {
  const role = orRefuse(mayInvite(request.inviter.role, request.role));
  const email = request.email === undefined ? null : orRefuse(readEmail(request.email));
  return store.transaction(async (tx) => {
    const now = clock.now();
    await tx.organizations.lock(organizationId);
    const id = invitationId(ids.next(idPrefixes.invitation));
    const first = await once(tx, {
      scope: { organizationId },
      place: 'create_invitation',
      key: request.idempotencyKey,
      body: { role, email },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      return refuse('secret_already_issued', { details: { invitation_id: first.resourceId } });
    }
    orRefuse(mayAddInvitation(await tx.invitations.countOpen(organizationId, now)));
    const { secret, hmac: secretHmac } = secrets.issue();
    const createdBy = request.inviter.userId;
    const fresh = { id, organizationId, secretHmac, role, email, createdBy };
    const invitation = openInvitation(fresh, now);
    await tx.invitations.insert(invitation);
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by: request.by,
      action: 'invitation.create',
      object: id,
      details: { role, ...(email === null ? {} : { email }), expires_at: invitation.expiresAt },
    });
    return { invitation, secret };
  });
}

export function listInvitations(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  page: PageRequest,
): Promise<Invitation[]> {
  return store.read.invitations.list(organizationId, clock.now(), page);
}

/** One that is no longer open needs no revocation (D-490). */
export async function revokeInvitation(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  organizationId: OrganizationId,
  { id, by }: { readonly id: InvitationId; readonly by: Actor },
): Promise<void> {
  await store.transaction(async (tx) => {
    const now = clock.now();
    const taken = await tx.invitations.take(organizationId, id, now);
    if (taken === undefined) return;
    const details = { role: taken.role };
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: 'invitation.revoke',
      object: id,
      details,
    });
  });
}

export interface OfferedInvitation {
  readonly invitation: Invitation;
  readonly organization: Organization;
}

/** A secret that is wrong, used, revoked or expired gives the same refusal: a stranger learns nothing. */
export async function readInvitation(
  { store, clock, secrets }: Pick<InvitationServices, 'store' | 'clock' | 'secrets'>,
  secret: string,
): Promise<OfferedInvitation> {
  const { invitations, organizations } = store.read;
  const invitation = await invitations.find(secrets.digest(secret), clock.now());
  const organization = invitation && (await organizations.find(invitation.organizationId));
  if (invitation === undefined || organization === undefined) return refuse('invitation_not_found');
  return { invitation, organization };
}

export interface AcceptedInvitation {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly role: Role;
}

interface Accepting {
  readonly secret: string;
  /** Where the request came from, as the audit records it. */
  readonly from: Pick<Actor, 'requestId' | 'address'>;
}

/** Adds the person who is signed in. */
export async function acceptInvitation(
  services: InvitationServices,
  { secret, from, userId: person }: Accepting & { readonly userId: UserId },
): Promise<AcceptedInvitation> {
  return services.store.transaction(async (tx) => {
    const found = await takeInvitation(services, tx, secret);
    const user = await tx.organizations.findUser(person);
    if (user === undefined) return refuse('forbidden', { codeOnly: true });
    const known = await tx.organizations.membership(found.organization.id, person);
    if (known !== undefined) return refuse('already_member');
    return join(tx, { ...found, user, from, now: services.clock.now() });
  });
}

interface NewAccount {
  readonly email: string;
  readonly name?: string | undefined;
  readonly passwordHash: string;
  /** Signs the person in once, where they made the account (D-790). */
  readonly ticket: string;
}

/**
 * Adds a person with a new account. An address that has an account is refused, also one without a password: the link
 * proves an invitation, not who owns the address.
 */
export async function signUp(
  services: InvitationServices,
  request: Accepting & NewAccount,
): Promise<AcceptedInvitation> {
  const { clock, ids } = services;
  const email = orRefuse(readEmail(request.email));
  const name = orRefuse(readPersonName(request.name ?? ''));
  return services.store.transaction(async (tx) => {
    const found = await takeInvitation(services, tx, request.secret);
    const now = clock.now();
    const fresh = { id: userId(ids.next(idPrefixes.user)), email, name, createdAt: now };
    const user = await tx.organizations.ensureUser(fresh);
    if (user.id !== fresh.id) return refuse('email_taken');
    const { passwordHash: hash, ticket: secret, from } = request;
    await tx.passwords.save({
      userId: user.id,
      hash,
      isOneTime: false,
      setAt: now,
      expiresAt: null,
    });
    await saveSecret(tx, 'JoinTicket', { userId: user.id, secret, now });
    return join(tx, { ...found, user, from, now });
  });
}

/**
 * Uses the invitation up. The organization is locked before the row of the invitation, in the order in which every
 * other change locks them.
 */
async function takeInvitation(
  { clock, secrets }: InvitationServices,
  tx: StoreTransaction,
  secret: string,
): Promise<OfferedInvitation> {
  const seen = await tx.invitations.find(secrets.digest(secret), clock.now());
  const organization = seen && (await tx.organizations.lock(seen.organizationId));
  const invitation =
    organization && (await tx.invitations.take(organization.id, seen.id, clock.now()));
  if (invitation === undefined || organization === undefined) return refuse('invitation_not_found');
  return { invitation, organization };
}

interface Joining extends OfferedInvitation {
  readonly user: User;
  readonly from: Accepting['from'];
  readonly now: number;
}

async function join(
  tx: StoreTransaction,
  { invitation, organization, user, from, now }: Joining,
): Promise<AcceptedInvitation> {
  orRefuse(mayAccept(invitation, user.email));
  const { role } = invitation;
  const of = { organizationId: organization.id, userId: user.id };
  await tx.organizations.insertMembership({ ...of, role, createdAt: now, isInvited: true });
  await recordAudit(tx, {
    chain: organization.id,
    at: now,
    by: { kind: 'user', id: user.id, ...from },
    action: 'invitation.accept',
    object: invitation.id,
    details: { user_id: user.id, email: user.email, role, invited_by: invitation.createdBy },
  });
  return { organization, userId: user.id, role };
}
