import { type MemberRole, limits, memberRoles } from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * Role of a person in an organization (D-153). Owners and admins manage it. An operator runs agents and answers them, a
 * viewer only reads. A member belongs to the organization and may do nothing there.
 */
export type Role = MemberRole;

export function isRole(text: string): text is Role {
  return memberRoles.some((role) => role === text);
}

/** The last owner keeps the role: an organization without an owner could not be managed. */
export function giveUpRole(role: Role, owners: number): Ruling<Role> {
  return role === 'owner' && owners <= 1 ? refused('last_owner') : accepted(role);
}

/** An admin manages everyone but owners, and makes none: else an admin could take the organization over (D-751). */
export function mayManage(
  manager: 'owner' | 'admin',
  { from, to }: { readonly from: Role; readonly to?: Role },
): Ruling<undefined> {
  const isAboutOwner = from === 'owner' || to === 'owner';
  return isAboutOwner && manager !== 'owner'
    ? refused('forbidden', 'Only an owner can manage owners.')
    : accepted(undefined);
}

const emailPattern = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** Normalizes the address, so that one person has one record. */
export function readEmail(text: string): Ruling<string> {
  const email = text.trim().toLowerCase();
  return email.length <= limits.emailMaxCharacters && emailPattern.test(email)
    ? accepted(email)
    : refused('invalid_body', `${JSON.stringify(text)} is not an e-mail address.`);
}

/**
 * D-415: reads what a person wants to be called; blank means no name. An `@` is refused, so that no name looks like the
 * address of another person.
 */
export function readPersonName(text: string): Ruling<string | null> {
  const name = text.trim().replaceAll(/\s+/gu, ' ');
  if (name === '') return accepted(null);
  const { personNameMaxCharacters: most } = limits;
  const isName = Array.from(name).length <= most && !/[@\p{C}]/u.test(name);
  return isName
    ? accepted(name)
    : refused(
        'invalid_body',
        `The name must have at most ${most} printable characters, without an @.`,
      );
}

const nameMaxCharacters = 200;

export function readOrganizationName(text: string): Ruling<string> {
  const name = text.trim();
  const isName = name !== '' && name.length <= nameMaxCharacters && !/\p{C}/u.test(name);
  return isName
    ? accepted(name)
    : refused('invalid_body', `The name must have 1 to ${nameMaxCharacters} printable characters.`);
}
