import type { MemberRole } from '@convoke/sdk';

/** In the order in which forms offer them. */
export const memberRoles: readonly MemberRole[] = [
  'operator',
  'viewer',
  'admin',
  'owner',
  'member',
];

/** The permissions of each role, in words. */
export const roleMeanings: Readonly<Record<string, string>> = {
  owner: 'Manage the organization, run agents, answer requests',
  admin: 'Manage the organization, run agents, answer requests',
  operator: 'Run agents, answer requests',
  viewer: 'Read only',
  member: 'No access to tenants',
};
