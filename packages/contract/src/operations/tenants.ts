import { z } from 'zod';
import { organizationIdSchema, tenantIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { byRole, defineOperation } from '../operation.ts';
import { fullPageQuery } from '../resources/page.ts';
import { tenantList, tenantRecord } from '../resources/tenant.ts';
import { text } from '../text.ts';
import { idempotencyHeader, replayedHeader } from './idempotency.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;
const ofTenant = { organization_id: organizationIdSchema, tenant_id: tenantIdSchema } as const;

export const listTenants = defineOperation({
  id: 'list_tenants',
  sdk: { method: 'tenants.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/tenants',
  tag: 'Tenants',
  summary: 'List the tenants of the organization',
  description: 'Lists tenants in every state, offboarded ones included.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(fullPageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: tenantList } },
  errors: [],
});

export const createTenant = defineOperation({
  id: 'create_tenant',
  sdk: { method: 'tenants.create' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/tenants',
  tag: 'Tenants',
  summary: 'Create a tenant',
  description:
    'Provisioning continues after the response: read the tenant until it is active and ready.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  headers: idempotencyHeader,
  body: z.strictObject({
    display_name: text({ max: limits.nameMaxCharacters, blank: 'refused' }).meta({
      examples: ['Acme Europe'],
    }),
    mode: text({ max: limits.tenantModeMaxCharacters }).meta({ examples: ['saas'] }),
  }),
  bodyRequired: true,
  responses: {
    202: {
      description: 'Provisioning has started.',
      schema: tenantRecord,
      headers: replayedHeader,
    },
  },
  errors: ['unsupported_mode', 'idempotency_conflict', 'tenant_limit_reached'],
});

export const getTenant = defineOperation({
  id: 'get_tenant',
  sdk: { method: 'tenants.get' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/tenants/{tenant_id}',
  tag: 'Tenants',
  summary: 'Read a tenant',
  description:
    'Returns the tenant. It is usable when it is `active` and its attachment state is `ready`.',
  caller: 'human',
  scope: byRole,
  params: ofTenant,
  responses: { 200: { description: 'The tenant.', schema: tenantRecord } },
  errors: [],
});

export const retryTenant = defineOperation({
  id: 'retry_tenant',
  sdk: { method: 'tenants.retry' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/tenants/{tenant_id}:retry',
  tag: 'Tenants',
  summary: 'Retry failed provisioning',
  description: 'Retries the provisioning of a tenant after it failed.',
  caller: 'human',
  scope: byRole,
  params: ofTenant,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 202: { description: 'Provisioning has resumed.', schema: tenantRecord } },
  errors: ['tenant_not_retryable'],
});

export const offboardTenant = defineOperation({
  id: 'offboard_tenant',
  sdk: { method: 'tenants.offboard', repeatable: true },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/tenants/{tenant_id}:offboard',
  tag: 'Tenants',
  summary: 'Offboard a tenant permanently',
  description:
    'Revokes the access of all automation clients immediately, then deletes the sessions, runs, events, ' +
    'files and session folders of the tenant. This cannot be undone.',
  caller: 'human',
  scope: byRole,
  params: ofTenant,
  body: z.strictObject({
    confirm: z.string().meta({
      description: 'The exact id of the tenant.',
      examples: ['ten_01ja3w8z5kq4v7m2x9c6t1r8en'],
    }),
  }),
  bodyRequired: true,
  responses: { 202: { description: 'Cleanup has started.', schema: tenantRecord } },
  errors: ['confirmation_mismatch'],
});
