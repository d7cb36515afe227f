import { z } from 'zod';
import { organizationIdSchema } from '../ids.ts';
import { defineOperation } from '../operation.ts';
import { meRecord, memberList, organizationRecord } from '../resources/organization.ts';
import { pageQuery } from '../resources/page.ts';

const byRole = {
  unscoped: 'Owners and admins are authorized by their role, not by scopes.',
} as const;
const ofOrganization = { organization_id: organizationIdSchema } as const;

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
  description:
    'Lists members of every role. Invitations add members; only the operator of the deployment changes and removes them.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: memberList } },
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
