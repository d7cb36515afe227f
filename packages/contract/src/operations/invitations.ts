import { z } from 'zod';
import { invitationIdSchema, organizationIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { byRole, defineOperation } from '../operation.ts';
import { memberRoles } from '../resources/caller.ts';
import {
  acceptedInvitation,
  invitationList,
  issuedInvitation,
  offeredInvitation,
  signedUp,
} from '../resources/invitation.ts';
import { pageQuery } from '../resources/page.ts';
import { text } from '../text.ts';
import { idempotencyHeader } from './idempotency.ts';

const bySecret = { unscoped: 'The secret of the invitation is the proof.' } as const;
const ofOrganization = { organization_id: organizationIdSchema } as const;

/** Secrets that one network may try: an office may share one. */
const networkRate = {
  perMinute: limits.invitationRatePerMinute,
  burst: limits.invitationRatePerMinute,
} as const;

const email = text({ max: limits.emailMaxCharacters });
const secret = text({ max: limits.nameMaxCharacters }).meta({
  description: 'The secret of the invitation: what follows the `#` of its link.',
  examples: ['cvi_…'],
});

export const createInvitation = defineOperation({
  id: 'create_invitation',
  sdk: { method: 'invitations.create' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/invitations',
  tag: 'Organizations',
  summary: 'Invite a person',
  description:
    'Creates a link that lets one person join the organization with this role, within seven days. Only an owner can invite owners. ' +
    'Send the link yourself: the server sends no mail.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  headers: idempotencyHeader,
  body: z.strictObject({
    role: z.enum(memberRoles).meta({ examples: ['operator'] }),
    email: email
      .meta({
        description: 'If given, only the person with this address can accept.',
        examples: ['bob@acme.example'],
      })
      .optional(),
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The only response that contains the secret.', schema: issuedInvitation },
  },
  errors: ['invitation_limit_reached', 'idempotency_conflict', 'secret_already_issued'],
});

export const listInvitations = defineOperation({
  id: 'list_invitations',
  sdk: { method: 'invitations.list' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/invitations',
  tag: 'Organizations',
  summary: 'List the open invitations',
  description:
    'Lists invitations that can still be accepted. Those that were used or revoked are in the audit log.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: invitationList } },
  errors: [],
});

export const revokeInvitation = defineOperation({
  id: 'revoke_invitation',
  sdk: { method: 'invitations.revoke' },
  method: 'DELETE',
  path: '/v1/organizations/{organization_id}/invitations/{invitation_id}',
  tag: 'Organizations',
  summary: 'Revoke an invitation',
  description: 'The link stops working. One that is no longer open is 204, too.',
  caller: 'human',
  scope: byRole,
  params: { ...ofOrganization, invitation_id: invitationIdSchema },
  responses: { 204: { description: 'Revoked.' } },
  errors: [],
});

export const readInvitation = defineOperation({
  id: 'read_invitation',
  method: 'POST',
  path: '/v1/invitations/read',
  tag: 'Organizations',
  summary: 'Read an invitation by its secret',
  description:
    'Shows the person who has the link what they are invited to. Changes nothing. The secret is in the body, so that it is in no log.',
  caller: 'anonymous',
  scope: bySecret,
  body: z.strictObject({ secret }),
  bodyRequired: true,
  maxBytes: limits.invitationBodyMaxBytes,
  networkRate,
  responses: { 200: { description: 'The invitation.', schema: offeredInvitation } },
  errors: ['invitation_not_found', 'rate_limited', 'storage_unavailable'],
});

export const acceptInvitation = defineOperation({
  id: 'accept_invitation',
  method: 'POST',
  path: '/v1/invitations/accept',
  tag: 'Organizations',
  summary: 'Accept an invitation as the person who is signed in',
  description:
    'Adds the person to the organization and uses the invitation up. Requires the token of a sign-in and no selector headers.',
  caller: 'any',
  only: 'sign-in',
  scope: bySecret,
  body: z.strictObject({ secret }),
  bodyRequired: true,
  maxBytes: limits.invitationBodyMaxBytes,
  responses: { 200: { description: 'The new membership.', schema: acceptedInvitation } },
  errors: ['invitation_not_found', 'invitation_for_another', 'already_member'],
});

export const signUp = defineOperation({
  id: 'sign_up',
  method: 'POST',
  path: '/v1/invitations/sign-up',
  tag: 'Organizations',
  summary: 'Accept an invitation with a new account',
  description:
    'Creates the account of the person, adds it to the organization and uses the invitation up. The `ticket` of the answer signs the browser in; anyone else signs in with the password. ' +
    'Only where the server itself signs people in: with another identity provider this path is 404.',
  caller: 'anonymous',
  scope: bySecret,
  body: z.strictObject({
    secret,
    email: email.meta({ examples: ['bob@acme.example'] }),
    password: text({ min: limits.passwordMinCharacters, max: limits.passwordMaxCharacters }).meta({
      examples: ['correct horse battery staple'],
    }),
    name: text({ min: 0, max: limits.personNameMaxCharacters })
      .meta({
        description: 'What the person wants to be called, instead of the address.',
        examples: ['Bob Weber'],
      })
      .optional(),
  }),
  bodyRequired: true,
  maxBytes: limits.invitationBodyMaxBytes,
  networkRate,
  responses: { 201: { description: 'The new membership.', schema: signedUp } },
  errors: [
    'not_found',
    'invitation_not_found',
    'invitation_for_another',
    'email_taken',
    'rate_limited',
    'storage_unavailable',
  ],
});
