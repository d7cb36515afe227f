import { z } from 'zod';
import { sessionIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { sessionTokenRecord } from '../resources/token.ts';
import { sessionTokenScopes } from '../scopes.ts';
import { text } from '../text.ts';

const lifetime = z
  .int()
  .min(limits.sessionTokenMinSeconds)
  .max(limits.sessionTokenMaxSeconds)
  .meta({ description: 'How long the token is valid.' })
  .default(limits.sessionTokenDefaultSeconds);

const endUser = text({ max: limits.endUserMaxCharacters, blank: 'refused' })
  .meta({
    description:
      'The user of your product that the token is for, by a name of your own. The audit rows of the token and of its answers have it.',
  })
  .optional();

export const createSessionToken = defineOperation({
  id: 'create_session_token',
  method: 'POST',
  path: '/v1/sessions/{session_id}/tokens',
  tag: 'Sessions',
  summary: 'Create a token for one session',
  description:
    'For a page or an app of your user, which must not hold a client secret. The token opens `whoami` and the operations ' +
    'under `/v1/sessions/{session_id}` of this session, with the scopes that it was given, and needs no selector headers. ' +
    'It ends with its client, its credential and its tenant. Only automation clients create tokens. ' +
    'It takes no idempotency key, because a token is shown once and another one costs nothing: a request with the header is refused.',
  caller: 'automation',
  only: 'clients',
  scope: 'sessions:write',
  params: { session_id: sessionIdSchema },
  body: z.strictObject({
    // Names that no scope has are `invalid_scope`, as at the token endpoint.
    scopes: z
      .array(text({ max: limits.nameMaxCharacters }))
      .min(1)
      .max(limits.sessionTokenScopesMax)
      .optional(),
    expires_in_seconds: lifetime,
    end_user: endUser,
  }),
  documentedBody: z.strictObject({
    scopes: z
      .array(z.enum(sessionTokenScopes))
      .min(1)
      .meta({
        description:
          'Default: those of these scopes that the caller has, without `connections:read` and `connections:write`.',
      })
      .optional(),
    expires_in_seconds: lifetime,
    end_user: endUser,
  }),
  bodyRequired: false,
  responses: {
    201: {
      description: 'The token.',
      schema: sessionTokenRecord,
      headers: { 'Cache-Control': '`no-store`' },
    },
  },
  errors: ['invalid_scope', 'invalid_idempotency_key', 'session_terminal'],
});
