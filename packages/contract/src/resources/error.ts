import { z } from 'zod';
import { opaqueId } from './opaque-id.ts';

/** D-70. The access gate may leave `message` out; the token endpoint repeats it as RFC 6749 names it. */
export const errorBody = z
  .object({
    error: z.string().meta({ description: 'Machine-readable code: `[a-z][a-z0-9_]*`.' }),
    message: z.string().meta({ description: 'For people. May be absent.' }).optional(),
    error_description: z.string().meta({ description: 'Token endpoint only.' }).optional(),
    request_id: z.string().meta({ description: 'The same as the `X-Request-Id` header.' }),
  })
  .meta({ id: 'Error', description: 'What every refusal carries.' });

/** D-63: what the first answer said, without the secret. Same places as in that answer. */
export const alreadyIssuedBody = errorBody
  .extend({
    client: z.object({ id: opaqueId('client') }),
    credential: z.object({ id: opaqueId('credential') }),
    client_id: z.string(),
  })
  .meta({ id: 'AlreadyIssued', description: 'A secret that was issued before, by its ids.' });
