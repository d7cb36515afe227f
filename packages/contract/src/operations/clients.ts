import { z } from 'zod';
import { clientIdSchema, organizationIdSchema, tenantIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { byRole, defineOperation } from '../operation.ts';
import {
  clientList,
  clientRecord,
  clientStatuses,
  clientWithCredentials,
  issuedClient,
  profileCatalog,
} from '../resources/client.ts';
import { pageQuery } from '../resources/page.ts';
import { profileNames, scopes } from '../scopes.ts';
import { text } from '../text.ts';
import { credentialDays } from './credentials.ts';
import { idempotencyHeader } from './idempotency.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;
const ofClient = { organization_id: organizationIdSchema, client_id: clientIdSchema } as const;

const name = text({ max: limits.nameMaxCharacters, blank: 'refused' }).meta({
  examples: ['Nightly reports'],
});
const description = text({ min: 0, max: limits.descriptionMaxCharacters, lines: 'many' });
const customScopes = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .refine((list) => new Set(list).size === list.length, { error: 'must not repeat a scope' })
  .meta({
    description: 'Required with `profile: custom`; not allowed otherwise.',
    uniqueItems: true,
  });

const tenantIds = z
  .array(tenantIdSchema)
  .min(1)
  .max(limits.tenantsPerClient)
  .refine((list) => new Set(list).size === list.length, { error: 'must not repeat a tenant' })
  .meta({
    description:
      'The only tenants that the client can access. Without it the client can access all tenants of the organization, including future ones.',
    uniqueItems: true,
  });

export const listClients = defineOperation({
  id: 'list_clients',
  sdk: { method: 'clients.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/m2m',
  tag: 'Automation clients',
  summary: 'List the automation clients',
  description: 'Lists the machine identities of the organization. Deleted clients are not listed.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(pageQuery),
  responses: {
    200: { description: 'One page, newest first, without secrets.', schema: clientList },
  },
  errors: [],
});

export const listProfiles = defineOperation({
  id: 'list_profiles',
  sdk: { method: 'clients.profiles' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/m2m/profiles',
  tag: 'Automation clients',
  summary: 'List the permission profiles and scopes',
  description:
    'Lists what a client can be allowed to do. `catalog_version` changes when a profile or a scope does.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  responses: { 200: { description: 'The permission catalog.', schema: profileCatalog } },
  errors: [],
});

export const createClient = defineOperation({
  id: 'create_client',
  sdk: { method: 'clients.create' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/m2m',
  tag: 'Automation clients',
  summary: 'Create an automation client with its first credential',
  description:
    'Creates a machine identity and issues its first secret. The secret is shown once: a repeated request with ' +
    'the same key never returns it again.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  headers: idempotencyHeader,
  body: z
    .strictObject({
      name,
      description: description.optional(),
      profile: z.enum(profileNames).meta({ examples: ['invoke'] }),
      scopes: customScopes.optional(),
      tenant_ids: tenantIds.optional(),
      expires_in_days: credentialDays,
    })
    .check(scopesFitProfile),
  bodyRequired: true,
  responses: {
    201: { description: 'The only response that contains the secret.', schema: issuedClient },
  },
  errors: ['client_limit_reached', 'idempotency_conflict', 'secret_already_issued'],
});

export const getClient = defineOperation({
  id: 'get_client',
  sdk: { method: 'clients.get' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/m2m/{client_id}',
  tag: 'Automation clients',
  summary: 'Read an automation client and its credentials',
  description:
    'Returns the client with its active, expired and revoked credentials. It also holds the `version` for an update.',
  caller: 'human',
  scope: byRole,
  params: ofClient,
  responses: {
    200: { description: 'The client, without secrets.', schema: clientWithCredentials },
  },
  errors: [],
});

export const updateClient = defineOperation({
  id: 'update_client',
  method: 'PATCH',
  path: '/v1/organizations/{organization_id}/m2m/{client_id}',
  tag: 'Automation clients',
  summary: 'Update an automation client: name, permissions or status',
  description:
    'Requires at least one change. A change of `status` cannot be combined with others. `scopes` without `profile` replaces the scopes of a client whose profile is `custom`. Revoked access ends ' +
    "with the client's next request, whatever token it holds.",
  caller: 'human',
  scope: byRole,
  params: ofClient,
  body: z
    .strictObject({
      version: z.int().min(1).meta({ description: 'The version that you read before.' }),
      name: name.optional(),
      description: description.optional(),
      profile: z.enum(profileNames).optional(),
      scopes: customScopes.optional(),
      status: z.enum(clientStatuses).optional(),
    })
    .check(scopesFitNewProfile, namesAChange),
  bodyRequired: true,
  responses: {
    200: { description: 'Changed.', schema: clientRecord },
    202: { description: 'Access is revoked; cleanup continues.', schema: clientRecord },
  },
  errors: ['status_change_not_combinable', 'version_conflict'],
});

export const deleteClient = defineOperation({
  id: 'delete_client',
  sdk: { method: 'clients.delete' },
  method: 'DELETE',
  path: '/v1/organizations/{organization_id}/m2m/{client_id}',
  tag: 'Automation clients',
  summary: 'Delete an automation client',
  description:
    "Revokes the client's access immediately, with all its credentials. Its runs and sessions remain.",
  caller: 'human',
  scope: byRole,
  params: ofClient,
  responses: {
    202: { description: 'Access is revoked; cleanup continues.', schema: clientRecord },
    204: { description: 'Deleted.' },
  },
  errors: [],
});

type Permissions = {
  readonly profile?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
};

/** D-61: `scopes` only and always with `custom`. */
function scopesFitProfile({ value, issues }: z.core.ParsePayload<Permissions>): void {
  const isCustom = value.profile === 'custom';
  if (isCustom === (value.scopes !== undefined)) return;
  const message = isCustom
    ? 'is required with profile custom'
    : 'is allowed only with profile custom';
  issues.push({ code: 'custom', path: ['scopes'], message, input: value.scopes });
}

/** Scopes without a profile are other scopes for a client that is `custom`, which the server knows. */
function scopesFitNewProfile(payload: z.core.ParsePayload<Permissions>): void {
  if (payload.value.profile !== undefined) scopesFitProfile(payload);
}

/** Refuses a change that names only the version it saw (D-64). */
function namesAChange({ value, issues }: z.core.ParsePayload<object>): void {
  if (Object.keys(value).some((field) => field !== 'version')) return;
  issues.push({ code: 'custom', path: [], message: 'must contain a change', input: value });
}
