import { z } from 'zod';
import type { IdKind } from '../ids.ts';
import { opaqueId } from './opaque-id.ts';

/** What an idempotency key belongs to. */
const known = (kind: IdKind) => {
  const description =
    'With `idempotency_conflict` and 412: what the first request with this key made.';
  return opaqueId(kind).meta({ description }).optional();
};

const knownIds = {
  session_id: known('session'),
  run_id: known('run'),
  tenant_id: known('tenant'),
  schedule_id: known('schedule'),
  webhook_id: known('webhook'),
  budget_id: known('budget'),
  client: z.object({ id: opaqueId('client') }).optional(),
  credential: z.object({ id: opaqueId('credential') }).optional(),
};

/** D-70. The gate may omit `message`; the token endpoint repeats it under its name in RFC 6749. */
export const errorBody = z
  .object({
    error: z.string().meta({ description: 'Machine-readable code: `[a-z][a-z0-9_]*`.' }),
    message: z.string().meta({ description: 'A message for people. May be absent.' }).optional(),
    error_description: z.string().meta({ description: 'Token endpoint only.' }).optional(),
    oldest_id: z
      .string()
      .meta({ description: 'With `cursor_expired`: the oldest notice available.' })
      .optional(),
    issues: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .meta({
        description:
          'Where the `input` does not fit the `input_schema` of the agent: JSON pointers into the body, at most 20.',
      })
      .optional(),
    ...knownIds,
    request_id: z.string().meta({ description: 'The same as the `X-Request-Id` header.' }),
  })
  .meta({ id: 'Error', description: 'The body of every error response.' });

/** D-63: the first response without the secret, with the same fields. */
export const alreadyIssuedBody = errorBody
  .extend({
    client: z.object({ id: opaqueId('client') }),
    credential: z.object({ id: opaqueId('credential') }),
    client_id: z.string(),
  })
  .meta({
    id: 'AlreadyIssued',
    description: 'The ids of a secret that an earlier request issued.',
  });
