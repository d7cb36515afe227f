import { z } from 'zod';
import { organizationIdSchema, userIdSchema } from '../ids.ts';
import { byRole, defineOperation } from '../operation.ts';
import { memberRoles } from '../resources/caller.ts';
import {
  meRecord,
  memberList,
  memberRecord,
  organizationRecord,
} from '../resources/organization.ts';
import { pageQuery } from '../resources/page.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;
const ofMember = { ...ofOrganization, user_id: userIdSchema } as const;

export const getOrganization = defineOperation({
  id: 'get_organization',
  method: 'GET',
  path: '/v1/organizations/{organization_id}',
  tag: 'Organizations',
  summary: 'Read the organization',
  description: 'Returns its name, the role of the caller, and counts of its resources.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  responses: { 200: { description: 'The organization.', schema: organizationRecord } },
  errors: [],
});

export const listMembers = defineOperation({
  id: 'list_members',
  sdk: { method: 'members.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/members',
  tag: 'Organizations',
  summary: 'List the people of the organization',
  description: 'Lists members of every role. Invitations add members.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: memberList } },
  errors: [],
});

export const updateMember = defineOperation({
  id: 'update_member',
  sdk: { method: 'members.update' },
  method: 'PATCH',
  path: '/v1/organizations/{organization_id}/members/{user_id}',
  tag: 'Organizations',
  summary: 'Give a member another role',
  description:
    'Takes effect with the next request of the person, and revokes the invitations that the person made. Only an owner changes ' +
    'the role of an owner, or makes one.',
  caller: 'human',
  scope: byRole,
  params: ofMember,
  body: z.strictObject({ role: z.enum(memberRoles) }),
  bodyRequired: true,
  responses: { 200: { description: 'The member.', schema: memberRecord } },
  errors: ['last_owner'],
});

export const removeMember = defineOperation({
  id: 'remove_member',
  sdk: { method: 'members.remove' },
  method: 'DELETE',
  path: '/v1/organizations/{organization_id}/members/{user_id}',
  tag: 'Organizations',
  summary: 'Remove a member',
  description:
    'The person has no access to the organization from the next request on, and the invitations that the person made are revoked. ' +
    'Only an owner removes an owner.',
  caller: 'human',
  scope: byRole,
  params: ofMember,
  responses: { 204: { description: 'Removed.' } },
  errors: ['last_owner'],
});

export const signOutMember = defineOperation({
  id: 'sign_out_member',
  sdk: { method: 'members.signOut' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/members/{user_id}/sign-out',
  tag: 'Organizations',
  summary: 'Sign a member out everywhere',
  description:
    'Ends every sign-in and every token of the person, in every browser and terminal. The person can sign in again. Only an owner ' +
    'signs an owner out.',
  caller: 'human',
  scope: byRole,
  params: ofMember,
  responses: { 204: { description: 'Signed out.' } },
  errors: [],
});

export const getMe = defineOperation({
  id: 'get_me',
  method: 'GET',
  path: '/v1/me',
  tag: 'Organizations',
  summary: 'Describe the person who is signed in',
  description:
    'Returns the organizations of the person with their roles. Requires no selector headers. Automation clients use `whoami` instead.',
  caller: 'any',
  only: 'people',
  scope: { unscoped: 'Every person may see who they are (D-54).' },
  responses: { 200: { description: 'The person.', schema: meRecord } },
  errors: [],
});
