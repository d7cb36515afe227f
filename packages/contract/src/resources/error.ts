import { z } from 'zod';
import { opaqueId } from './opaque-id.ts';

/** D-70. The gate may omit `message`; the token endpoint repeats it under its name in RFC 6749. */
export const errorBody = z
  .object({
    error: z.string().meta({ description: 'Machine-readable code: `[a-z][a-z0-9_]*`.' }),
    message: z.string().meta({ description: 'For people. May be absent.' }).optional(),
    error_description: z.string().meta({ description: 'Token endpoint only.' }).optional(),
    oldest_id: z
      .string()
      .meta({ description: 'With `cursor_expired`: the oldest notice that is kept.' })
      .optional(),
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
