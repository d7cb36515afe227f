import { z } from 'zod';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { organizationIdSchema, tenantIdSchema } from '../ids.ts';
import {
  jsonWebKeySet,
  resourceMetadata,
  serverMetadata,
  tokenResponse,
} from '../resources/token.ts';

const open = { unscoped: 'Called before the caller has a token.' } as const;

export const issueToken = defineOperation({
  id: 'issue_token',
  method: 'POST',
  path: '/v1/oauth/token',
  tag: 'Tokens',
  summary: 'Exchange a client secret for an access token',
  description:
    'OAuth 2.0 client credentials (RFC 6749 section 4.4). Authenticate with HTTP Basic, or with ' +
    '`client_id` and `client_secret` in the form. The console uses the same endpoint to exchange the token of a ' +
    'signed-in person for one of a tenant (RFC 8693), and assistants to redeem and renew what a person has allowed.',
  caller: 'anonymous',
  scope: open,
  content: 'form',
  // Not strict: RFC 6749 section 3.2 has the server ignore parameters it does not know.
  body: z.object({
    grant_type: z.string().meta({
      description:
        '`client_credentials`; for a person in the console the token exchange grant, in an assistant `authorization_code` and `refresh_token`.',
      examples: ['client_credentials'],
    }),
    scope: z
      .string()
      .meta({ description: 'Space-separated scopes, to request fewer than the client has.' })
      .optional(),
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
    subject_token: z
      .string()
      .meta({ description: 'Token exchange: the access token of the person.' })
      .optional(),
    subject_token_type: z
      .string()
      .meta({ description: 'Token exchange: `urn:ietf:params:oauth:token-type:access_token`.' })
      .optional(),
    requested_token_type: z
      .string()
      .meta({ description: 'Token exchange: as `subject_token_type`, or absent.' })
      .optional(),
    resource: z
      .string()
      .meta({
        description:
          'Token exchange: the tenant, as `{base_url}/v1/organizations/{organization_id}/tenants/{tenant_id}`.',
      })
      .optional(),
  }),
  bodyRequired: true,
  networkRate: { perMinute: limits.tokenRatePerMinute, burst: limits.tokenRateBurst },
  responses: {
    200: {
      description: 'A token that is valid for ten minutes.',
      schema: tokenResponse,
      headers: { 'Cache-Control': '`no-store`' },
    },
  },
  errors: [
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unsupported_grant_type',
    'invalid_scope',
    'invalid_target',
    'body_too_large',
    'unsupported_media_type',
    'rate_limited',
    'storage_unavailable',
    'identity_unavailable',
  ],
});

export const getMetadata = defineOperation({
  id: 'get_metadata',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  tag: 'Tokens',
  summary: 'OAuth server metadata',
  description: 'Names the token endpoint, the keys and the scopes, for OAuth libraries (RFC 8414).',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'RFC 8414 metadata.', schema: serverMetadata } },
  errors: [],
});

export const getResourceMetadata = defineOperation({
  id: 'get_resource_metadata',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource/v1/mcp/{organization_id}/{tenant_id}',
  tag: 'Tokens',
  summary: 'OAuth metadata of an MCP address',
  description:
    'Tells an assistant where a person signs in for this address (RFC 9728). It is made of the path alone: it does not say whether the tenant exists.',
  caller: 'anonymous',
  scope: open,
  params: { organization_id: organizationIdSchema, tenant_id: tenantIdSchema },
  responses: { 200: { description: 'RFC 9728 metadata.', schema: resourceMetadata } },
  errors: ['not_found'],
});

export const getJwks = defineOperation({
  id: 'get_jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  tag: 'Tokens',
  summary: 'Public keys for token signatures',
  description:
    'Returns the public keys as a JSON Web Key Set (RFC 7517), for services that verify tokens themselves.',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'Current and retiring keys.', schema: jsonWebKeySet } },
  errors: [],
});
