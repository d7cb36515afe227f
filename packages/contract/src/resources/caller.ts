import { z } from 'zod';
import { exampleId } from '../ids.ts';
import { profileNames, profiles, scopes } from '../scopes.ts';
import { opaqueId } from './opaque-id.ts';
import { timestamp } from './page.ts';

/** Roles of a person in an organization, the strongest first (D-153). */
export const memberRoles = ['owner', 'admin', 'operator', 'viewer', 'member'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Who the caller is and what its token allows (D-56, D-154). */
export const callerRecord = z
  .object({
    subject: z.string().meta({
      description: 'Record id of the automation client (`cli_…`) or of the person (`usr_…`).',
      examples: [exampleId('client')],
    }),
    kind: z.enum(['automation_client', 'person']),
    client_id: z
      .string()
      .meta({
        description: 'OAuth client id. Only of an automation client.',
        examples: ['convoke-7k2m9x4c'],
      })
      .optional(),
    session_id: opaqueId('session')
      .meta({ description: 'Only of a token for one session: the session.' })
      .optional(),
    end_user: z
      .string()
      .meta({ description: 'Only of a token for one session: the user it was created for.' })
      .optional(),
    organization_id: opaqueId('organization'),
    tenant_id: opaqueId('tenant'),
    profile: z.enum(profileNames).meta({ description: 'Only of an automation client.' }).optional(),
    role: z.enum(memberRoles).meta({ description: 'Only of a person.' }).optional(),
    scopes: z.array(z.enum(scopes)).meta({
      description: 'Current scopes of this token.',
      examples: [[...profiles.observe]],
    }),
    file_attachments_enabled: z.boolean(),
    expires_at: timestamp,
  })
  .meta({ id: 'Caller', description: 'The caller that the access token identifies.' });

export type CallerRecord = z.infer<typeof callerRecord>;
