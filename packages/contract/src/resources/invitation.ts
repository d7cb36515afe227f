import { z } from 'zod';
import { actorName } from './labels.ts';
import { memberRoles } from './caller.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

const role = z.enum(memberRoles).meta({ description: 'The role that the person gets.' });
const email = z
  .string()
  .meta({
    description: 'Only the person with this address can accept. Absent: anyone who has the link.',
    examples: ['bob@acme.example'],
  })
  .optional();

/** An open invitation, without its secret (D-331). */
export const invitationRecord = z
  .object({
    id: opaqueId('invitation'),
    role,
    email,
    created_by: opaqueId('user'),
    created_by_name: actorName.optional(),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'Invitation', description: 'An open invitation to the organization.' });

export type InvitationRecord = z.infer<typeof invitationRecord>;

export const invitationList = z.object({
  invitations: z.array(invitationRecord),
  next_cursor: nextCursor,
});

/** The only response that contains the secret of an invitation. */
export const issuedInvitation = z.object({
  invitation: invitationRecord,
  secret: z.string().meta({ description: 'Shown only in this response.', examples: ['cvi_…'] }),
  url: z
    .string()
    .meta({
      description:
        'The link for the person. The secret follows the `#`, so no server log contains it. Absent when the console is turned off.',
      examples: ['https://convoke.acme.example/console/join#cvi_…'],
    })
    .optional(),
});

export type IssuedInvitation = z.infer<typeof issuedInvitation>;

/** What the person who has the link may know before they accept. */
export const offeredInvitation = z
  .object({
    organization_name: z.string().meta({ examples: ['Acme'] }),
    role,
    email,
    expires_at: timestamp,
  })
  .meta({ id: 'OfferedInvitation', description: 'An invitation, as its link shows it.' });

export type OfferedInvitation = z.infer<typeof offeredInvitation>;

export const acceptedInvitation = z
  .object({
    organization_id: opaqueId('organization'),
    organization_name: z.string().meta({ examples: ['Acme'] }),
    user_id: opaqueId('user'),
    role,
  })
  .meta({ id: 'AcceptedInvitation', description: 'The membership that an invitation gave.' });

/** The answer to a sign-up (D-790). */
export const signedUp = acceptedInvitation
  .extend({
    ticket: z.string().meta({
      description:
        'Signs the browser in that made the account, once and within a minute: the page posts it as the form field `ticket` to `/oidc/joined`.',
      examples: ['kq0…'],
    }),
  })
  .meta({ id: 'SignedUp', description: 'The membership of a new account, and its first sign-in.' });

export type AcceptedInvitation = z.infer<typeof acceptedInvitation>;
