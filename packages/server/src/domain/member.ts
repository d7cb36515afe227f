import { type Ruling, accepted, refused } from './refusal.ts';

/** What a person may be in an organization. Owners and admins manage it; a member belongs to it. */
export type Role = 'owner' | 'admin' | 'member';

/** An organization that nobody owns could be managed by nobody: its last owner stays one. */
export function giveUpRole(role: Role, owners: number): Ruling<Role> {
  return role === 'owner' && owners <= 1
    ? refused('forbidden', 'The last owner cannot go: make somebody else owner first.')
    : accepted(role);
}

const emailMaxCharacters = 254;
const emailPattern = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** One spelling per address, so that one person has one record. */
export function readEmail(text: string): Ruling<string> {
  const email = text.trim().toLowerCase();
  return email.length <= emailMaxCharacters && emailPattern.test(email)
    ? accepted(email)
    : refused('invalid_body', `${JSON.stringify(text)} is not an e-mail address.`);
}

const nameMaxCharacters = 200;

export function readOrganizationName(text: string): Ruling<string> {
  const name = text.trim();
  const isName = name !== '' && name.length <= nameMaxCharacters && !/\p{C}/u.test(name);
  return isName
    ? accepted(name)
    : refused('invalid_body', `The name must have 1 to ${nameMaxCharacters} printable characters.`);
}
