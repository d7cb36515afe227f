import { z } from 'zod';
import { profileNames, profiles, scopes } from '../scopes.ts';
import { opaqueId } from './opaque-id.ts';
import { timestamp } from './page.ts';

/** D-56. */
export const callerRecord = z
  .object({
    subject: opaqueId('client').meta({ description: 'Record id of the automation client.' }),
    kind: z.literal('automation_client'),
    client_id: z.string().meta({ description: 'OAuth client id.', examples: ['convoke-7k2m9x4c'] }),
    organization_id: opaqueId('organization'),
    tenant_id: opaqueId('tenant'),
    profile: z.enum(profileNames),
    scopes: z.array(z.enum(scopes)).meta({
      description: 'Current scopes of this token.',
      examples: [[...profiles.observe]],
    }),
    file_attachments_enabled: z.boolean(),
    expires_at: timestamp,
  })
  .meta({ id: 'Caller', description: 'The caller that the access token identifies.' });

export type CallerRecord = z.infer<typeof callerRecord>;
