import { z } from 'zod';
import { limits } from '../limits.ts';
import { scopes, sessionTokenScopes } from '../scopes.ts';
import { opaqueId } from './opaque-id.ts';
import { timestamp } from './page.ts';

/** The answer of the token endpoint (D-50, RFC 6749). */
export const tokenResponse = z
  .object({
    access_token: z.string().meta({ examples: ['eyJhbGciOiJFZERTQSIs…'] }),
    issued_token_type: z
      .string()
      .meta({ description: 'The kind of token, in an answer to a token exchange (RFC 8693).' })
      .optional(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds.', examples: [limits.tokenLifetimeSeconds] }),
    scope: z
      .string()
      .meta({ description: 'Space-separated scopes.', examples: ['agents:read sessions:read'] }),
    refresh_token: z
      .string()
      .meta({ description: 'For an assistant: renews the token, once.' })
      .optional(),
  })
  .meta({ id: 'Token', description: 'A short-lived access token.' });

export type TokenResponse = z.infer<typeof tokenResponse>;

/** D-196: a token for one session, which a page may hold. */
export const sessionTokenRecord = z
  .object({
    token: z.string().meta({ examples: ['eyJhbGciOiJFZERTQSIs…'] }),
    token_type: z.literal('Bearer'),
    expires_at: timestamp,
    expires_in: z
      .int()
      .meta({ description: 'Seconds.', examples: [limits.sessionTokenDefaultSeconds] }),
    scopes: z.array(z.enum(scopes)).meta({ examples: [[...sessionTokenScopes]] }),
    session_id: opaqueId('session'),
  })
  .meta({
    id: 'SessionToken',
    description: 'A short-lived access token that opens one session and nothing else.',
  });

export type SessionTokenRecord = z.infer<typeof sessionTokenRecord>;

/** RFC 8414. */
export const serverMetadata = z
  .object({
    issuer: z.string(),
    token_endpoint: z.string(),
    jwks_uri: z.string(),
    grant_types_supported: z.array(z.string()),
    /** This one and those below: where people sign in here (D-620). */
    authorization_endpoint: z.string().optional(),
    registration_endpoint: z
      .string()
      .meta({ description: 'Where `CONVOKE_CLIENT_REGISTRATION` is on.' })
      .optional(),
    response_types_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()).optional(),
    client_id_metadata_document_supported: z.boolean().optional(),
    authorization_response_iss_parameter_supported: z.boolean().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
  })
  .meta({ id: 'ServerMetadata', description: 'OAuth 2.0 authorization server metadata.' });

export type ServerMetadata = z.infer<typeof serverMetadata>;

/** RFC 9728. */
export const resourceMetadata = z
  .object({
    resource: z.string().meta({ description: 'The MCP address of the tenant.' }),
    authorization_servers: z
      .array(z.string())
      .meta({ description: 'Absent where people sign in with another issuer.' })
      .optional(),
    scopes_supported: z.array(z.enum(scopes)),
    bearer_methods_supported: z.array(z.literal('header')),
    resource_name: z.string(),
  })
  .meta({ id: 'ResourceMetadata', description: 'OAuth 2.0 protected resource metadata.' });

export type ResourceMetadata = z.infer<typeof resourceMetadata>;

/** RFC 7517: public keys only. */
export const jsonWebKeySet = z
  .object({
    keys: z.array(
      z.looseObject({
        kty: z.string(),
        kid: z.string(),
        alg: z.string(),
        use: z.string(),
      }),
    ),
  })
  .meta({ id: 'JsonWebKeySet', description: 'The keys that sign access tokens.' });

export type JsonWebKeySet = z.infer<typeof jsonWebKeySet>;
