import type { ApproverRole } from '@convoke/contract';
import { approversText } from '@convoke/faces';
import type { Role } from '../member.ts';
import type { Approvers, Demands } from './demands.ts';

/** A caller that wants to allow a call. */
export type Allower = Person | Program;

interface Program {
  /** An automation client with its own token, or the page of an end user with a session token. */
  readonly kind: 'client' | 'end_user';
  readonly id: string;
}

interface Person {
  readonly kind: 'person';
  readonly id: string;
  /** Undefined for one who has left the organization. */
  readonly role: Role | undefined;
  /** Another issuer says so, and only the person's token knows it. */
  readonly claimedRole?: Role | undefined;
}

/** One of the people who have to allow a call has. */
export interface Approval {
  readonly by: string;
  readonly at: number;
  /** As another issuer said at that moment. */
  readonly claimedRole?: Role;
}

const rolesFrom: Readonly<Record<ApproverRole, readonly Role[]>> = {
  operator: ['operator', 'admin', 'owner'],
  admin: ['admin', 'owner'],
  owner: ['owner'],
};

/** The roles of people who may allow where this is the lowest. */
export function rolesOf({ role }: Pick<Approvers, 'role'>): readonly Role[] {
  return rolesFrom[role];
}

/** D-512: whether the caller is one of those who may allow. `startedBy` is who started the run (D-513). */
export function mayAllow(
  approvers: Approvers,
  allower: Allower,
  startedBy: string | null,
): boolean {
  if (approvers.notStarter && allower.id === startedBy) return false;
  switch (allower.kind) {
    case 'end_user':
      return approvers.endUsers;
    case 'client':
      return approvers.clients;
    case 'person':
      return allower.role !== undefined && rolesOf(approvers).includes(allower.role);
    default:
      return allower satisfies never;
  }
}

/** Whether there are callers that may answer and not allow, or not alone. */
function isRestricted({ role, people, notStarter, clients, endUsers }: Approvers): boolean {
  return role !== 'operator' || people > 1 || notStarter || !clients || !endUsers;
}

/** The wire form; undefined where every caller that may answer may allow. */
export function approversFields({ approvers }: Pick<Demands, 'approvers'>) {
  if (!isRestricted(approvers)) return undefined;
  const { role, people, notStarter: not_starter, clients, endUsers: end_users } = approvers;
  return { role, people, not_starter, clients, end_users };
}

/** In words that follow "needs". */
export function neededText(demands: Pick<Demands, 'approvers'>): string {
  const fields = approversFields(demands);
  return fields === undefined ? 'a caller that may answer' : approversText(fields);
}
