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
    response_types_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
  })
  .meta({ id: 'ServerMetadata', description: 'OAuth 2.0 authorization server metadata.' });

export type ServerMetadata = z.infer<typeof serverMetadata>;

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
