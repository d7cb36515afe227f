import { organizationIdSchema } from '../ids.ts';
import { byRole, defineOperation } from '../operation.ts';
import { auditList, auditQuery, auditStatusRecord } from '../resources/audit.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;

export const listAudit = defineOperation({
  id: 'list_audit',
  sdk: { method: 'audit.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/audit',
  tag: 'Organizations',
  summary: 'Read the audit log',
  description:
    'Lists the rows of the organization. A page scans at most 10,000 rows, so with filters it may have fewer than `limit` rows, or none, and still have a `next_cursor`.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: auditQuery,
  responses: { 200: { description: 'One page, newest first.', schema: auditList } },
  errors: [],
});

export const getAuditStatus = defineOperation({
  id: 'get_audit_status',
  sdk: { method: 'audit.status' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/audit/status',
  tag: 'Organizations',
  summary: 'Read whether the audit log is intact',
  description:
    'The server checks the hash chain in the background: new rows within minutes, all of them every day.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  responses: {
    200: { description: 'The end of the chain, and the checks.', schema: auditStatusRecord },
  },
  errors: [],
});
