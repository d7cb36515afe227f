import { z } from 'zod';
import { opaqueId } from './opaque-id.ts';
import { timestamp } from './page.ts';
import { pendingOperation } from './pending-operation.ts';

export const credentialStatuses = ['active', 'revoked', 'expired'] as const;
export type CredentialStatus = (typeof credentialStatuses)[number];

/** A credential of a client, without its secret (D-60). */
export const credentialRecord = z
  .object({
    id: opaqueId('credential'),
    label: z.string().meta({ examples: ['default'] }),
    status: z.enum(credentialStatuses),
    secret_hint: z
      .string()
      .meta({ description: 'The last four characters of the secret.', examples: ['x9Qd'] }),
    pending_operation: pendingOperation.optional(),
    created_at: timestamp,
    expires_at: timestamp,
    revoked_at: timestamp.optional(),
    last_used_at: timestamp.optional(),
  })
  .meta({
    id: 'Credential',
    description: 'Metadata of a client secret, without the secret.',
  });

export type CredentialRecord = z.infer<typeof credentialRecord>;

/** D-62: the only response that contains the secret of an added credential. */
export const issuedCredential = z.object({
  credential: credentialRecord,
  client_id: z.string().meta({ examples: ['convoke-7k2m9x4c'] }),
  client_secret: z
    .string()
    .meta({ description: 'Shown only in this response.', examples: ['cvk_…'] }),
});

export type IssuedCredential = z.infer<typeof issuedCredential>;
