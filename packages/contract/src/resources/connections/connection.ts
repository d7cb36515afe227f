import { z } from 'zod';
import { limits } from '../../limits.ts';
import { text } from '../../text.ts';
import { actorName } from '../labels.ts';
import { opaqueId } from '../opaque-id.ts';
import { moment, nextCursor, timestamp } from '../page.ts';

/** D-590: the name that `agent.yaml` uses for a service. */
export const connectionServicePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

export const connectionService = z
  .string()
  .regex(connectionServicePattern)
  .meta({
    description: 'The service, by the name that `agent.yaml` has for it.',
    examples: ['github'],
  });

export const connectionEndUser = text({
  max: limits.endUserMaxCharacters,
  blank: 'refused',
}).meta({
  description:
    'The user of your product whose account it is. Without it the connection is of the tenant.',
  examples: ['u-17'],
});

/** Whose account an agent uses. */
export const connectionOwners = ['tenant', 'end_user'] as const;
export type ConnectionOwner = (typeof connectionOwners)[number];

export const connectionStatuses = ['connected', 'expired'] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];

/** D-594: why a connection is expired. */
export const connectionReasons = [
  'refresh_refused',
  'refresh_lost',
  'rejected',
  'no_refresh',
  'unreadable',
] as const;
export type ConnectionReason = (typeof connectionReasons)[number];

const connectionAuthTypes = ['bearer', 'header', 'oauth'] as const;
export type ConnectionAuthType = (typeof connectionAuthTypes)[number];

/** What a secret may have as characters: those that a header can carry, without blanks at its ends. */
const secretPattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const { connectionSecretMinCharacters: min, connectionSecretMaxCharacters: max } = limits;

const secret = z
  .string()
  .refine((value) => value.length >= min && value.length <= max && secretPattern.test(value), {
    error: `must be ${min} to ${max} characters of ASCII, without blanks at its ends`,
  })
  .meta({
    description: 'Write-only: no answer has it.',
    minLength: min,
    maxLength: max,
    pattern: secretPattern.source,
    examples: ['a-secret-of-the-service'],
  });

/** Headers that belong to the connection, to the body or to MCP itself. */
const reservedHeaders =
  /^(?:connection|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|cookie|content-.*|mcp-.*)$/i;

const headerName = z
  .string()
  .max(limits.nameMaxCharacters)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
  .refine((name) => !reservedHeaders.test(name), {
    error: 'is a header that the request itself needs',
  })
  .meta({ examples: ['X-Api-Key'] });

const bearerAuth = z.strictObject({
  type: z.literal('bearer').meta({ description: 'Sent as `Authorization: Bearer …`.' }),
  token: secret,
});

const headerAuth = z.strictObject({
  type: z.literal('header').meta({ description: 'Sent as a header of this name.' }),
  name: headerName,
  value: secret,
});

const oauthAuth = z
  .strictObject({
    type: z
      .literal('oauth')
      .meta({ description: 'Sent as `Authorization: Bearer …`, and refreshed.' }),
    access_token: secret,
    expires_at: moment
      .meta({ description: 'When the access token ends; without it, never.' })
      .optional(),
    refresh_token: secret.optional(),
    token_endpoint: text({ max: limits.connectionUrlMaxCharacters })
      .meta({
        description: 'Where the refresh token is exchanged: an https URL of a public address.',
        examples: ['https://github.com/login/oauth/access_token'],
      })
      .optional(),
    client_id: text({ max: limits.connectionClientMaxCharacters }).optional(),
    client_secret: secret.optional(),
    scope: text({ max: limits.connectionScopeMaxCharacters }).optional(),
  })
  .superRefine(({ refresh_token, token_endpoint, client_id, client_secret }, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (refresh_token !== undefined) {
      if (token_endpoint === undefined) issue('token_endpoint', 'is needed with a refresh_token');
      if (client_id === undefined) issue('client_id', 'is needed with a refresh_token');
    } else if (client_secret !== undefined) {
      issue('client_secret', 'is only used with a refresh_token');
    }
  });

/** D-593: the account itself. */
export const connectionAuth = z
  .discriminatedUnion('type', [bearerAuth, headerAuth, oauthAuth])
  .meta({ id: 'ConnectionAuth', description: 'How requests to the service are authorized.' });

export type ConnectionAuth = z.infer<typeof connectionAuth>;

/** What is known of the account without its secrets. */
const shownAuth = z.object({
  type: z.enum(connectionAuthTypes),
  name: z.string().meta({ description: 'The header of `header`.' }).optional(),
  expires_at: timestamp.meta({ description: 'When the access token of `oauth` ends.' }).optional(),
  scope: z.string().optional(),
  token_endpoint: z.string().optional(),
  client_id: z.string().optional(),
  refreshes: z
    .boolean()
    .meta({ description: 'Whether the server refreshes the token of `oauth`.' })
    .optional(),
});

/** A connection, never with a secret (D-593). */
export const connectionRecord = z
  .object({
    id: opaqueId('connection'),
    service: connectionService,
    end_user: z
      .string()
      .meta({
        description: 'Whose account it is; absent for one of the tenant.',
        examples: ['u-17'],
      })
      .optional(),
    status: z.enum(connectionStatuses),
    status_reason: z
      .enum(connectionReasons)
      .meta({
        description:
          'Why it is expired. `refresh_refused`: the token endpoint refused it. `refresh_lost`: a refresh got no answer, so its refresh token may be used up. `rejected`: the service refused it. `no_refresh`: it ended, and there is nothing to refresh it with. `unreadable`: it was sealed with another master key.',
      })
      .optional(),
    version: z.int().min(1).meta({ description: 'Counts the changes of the secret.' }),
    auth: shownAuth,
    last_used_at: timestamp.meta({ description: 'To the minute.' }).optional(),
    created_by: z.string().meta({ description: 'Id of the client or the person.' }),
    created_by_name: actorName.optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Connection', description: 'An account for a service that agents use.' });

export type ConnectionRecord = z.infer<typeof connectionRecord>;

export const connectionList = z.object({
  connections: z.array(connectionRecord),
  next_cursor: nextCursor,
});
