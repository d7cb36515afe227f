import type { OrganizationId, UserId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import { type Role, mayManage } from '../../domain/member.ts';
import type { OrganizationMember } from '../../ports/repositories/identity/organizations.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { type Member, changeRole, endMembership, requireAnotherOwner } from '../organizations.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { endAccess } from './passwords.ts';

export interface ManageMember {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly manager: { readonly role: 'owner' | 'admin' };
  readonly by: Actor;
}

type MemberServices = Pick<Services, 'store' | 'clock' | 'fanout'>;

/** The person's open streams check their access again at once (D-791). */
function wakeStreams(tx: StoreTransaction, { fanout }: MemberServices, person: UserId): void {
  tx.onCommit(() => fanout.wake(`access:${person}`));
}

/** Takes effect with the next request of the person: roles are read on every request (D-751). */
export async function updateMember(
  services: MemberServices,
  { role, ...request }: ManageMember & { readonly role: Role },
): Promise<OrganizationMember> {
  const { store, clock } = services;
  return store.transaction(async (tx) => {
    const { user, membership } = await managedMember(tx, request, role);
    const { organizationId, createdAt, role: previous } = membership;
    const changed = { user, role, createdAt };
    if (previous === role) return changed;
    await requireAnotherOwner(tx, membership);
    await changeRole(tx, { ...membership, role });
    wakeStreams(tx, services, user.id);
    await recordAudit(tx, {
      chain: organizationId,
      at: clock.now(),
      by: request.by,
      action: 'member.role',
      object: user.id,
      details: { email: user.email, role, previous_role: previous },
    });
    return changed;
  });
}

export async function removeMember(services: MemberServices, request: ManageMember): Promise<void> {
  const { store, clock } = services;
  await store.transaction(async (tx) => {
    const member = await managedMember(tx, request);
    await endMembership(tx, member, { by: request.by, now: clock.now() });
    wakeStreams(tx, services, member.user.id);
  });
}

export async function signOutMember(
  services: MemberServices,
  request: ManageMember,
): Promise<void> {
  const { store, clock } = services;
  await store.transaction(async (tx) => {
    const { user } = await managedMember(tx, request);
    await endAccess(tx, user.id, { by: request.by, now: clock.now() });
    wakeStreams(tx, services, user.id);
  });
}

/** Locks the organization, so that two owners cannot both leave at once. A person who is no member is not found. */
async function managedMember(
  tx: StoreTransaction,
  { organizationId, userId, manager }: ManageMember,
  to?: Role,
): Promise<Member> {
  await tx.organizations.lock(organizationId);
  const user = await tx.organizations.findUser(userId);
  const membership = user && (await tx.organizations.membership(organizationId, userId));
  if (user === undefined || membership === undefined) return refuse('not_found');
  const from = membership.role;
  orRefuse(mayManage(manager.role, to === undefined ? { from } : { from, to }));
  return { user, membership };
}
