import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerRecord } from '../resources/caller.ts';
import { fullPageQuery } from '../resources/page.ts';
import { workspaceList } from '../resources/workspace.ts';

export const listWorkspaces = defineOperation({
  id: 'list_workspaces',
  method: 'GET',
  path: '/v1/me/workspaces',
  tag: 'Workspaces',
  summary: 'List the workspaces that the caller can access',
  description: 'Requires no selector headers: the response contains their values.',
  caller: 'any',
  scope: { unscoped: 'Every valid token may list what it can select (D-54).' },
  query: z.strictObject(fullPageQuery),
  responses: { 200: { description: 'Usable workspaces only.', schema: workspaceList } },
  errors: [],
});

export const whoami = defineOperation({
  id: 'whoami',
  method: 'GET',
  path: '/v1/whoami',
  tag: 'Workspaces',
  summary: 'Describe the caller',
  description:
    'Returns the automation client or the person of the token, the current scopes, and whether file attachments are enabled.',
  caller: 'automation',
  scope: { unscoped: 'Every valid token may describe itself (D-54).' },
  responses: { 200: { description: 'The caller.', schema: callerRecord } },
  errors: [],
});
