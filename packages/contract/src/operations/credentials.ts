import { z } from 'zod';
import { clientIdSchema, credentialIdSchema, organizationIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { byRole, defineOperation } from '../operation.ts';
import { credentialRecord, issuedCredential } from '../resources/credential.ts';
import { text } from '../text.ts';
import { idempotencyHeader } from './idempotency.ts';

export const credentialDays = z
  .int()
  .min(limits.credentialDaysMin)
  .max(limits.credentialDaysMax)
  .default(limits.credentialDaysDefault);

export const addCredential = defineOperation({
  id: 'add_credential',
  sdk: { method: 'credentials.add' },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/m2m/{client_id}/credentials',
  tag: 'Credentials',
  summary: 'Add a credential to rotate secrets',
  description:
    'Issues a second secret. Deploy it, then revoke the first one: at most two credentials of a client are active.',
  caller: 'human',
  scope: byRole,
  params: { organization_id: organizationIdSchema, client_id: clientIdSchema },
  headers: idempotencyHeader,
  body: z.strictObject({
    label: text({ max: limits.nameMaxCharacters, blank: 'refused' }).meta({ examples: ['autumn'] }),
    expires_in_days: credentialDays,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The only response that contains the secret.', schema: issuedCredential },
  },
  errors: ['credential_limit_reached', 'idempotency_conflict', 'secret_already_issued'],
});

export const revokeCredential = defineOperation({
  id: 'revoke_credential',
  sdk: { method: 'credentials.revoke' },
  method: 'DELETE',
  path: '/v1/organizations/{organization_id}/m2m/{client_id}/credentials/{credential_id}',
  tag: 'Credentials',
  summary: 'Revoke a credential',
  description:
    'The credential can no longer obtain tokens. Streams that its tokens opened end; requests with these tokens are accepted until they expire.',
  caller: 'human',
  scope: byRole,
  params: {
    organization_id: organizationIdSchema,
    client_id: clientIdSchema,
    credential_id: credentialIdSchema,
  },
  responses: {
    202: { description: 'Revoked; cleanup continues.', schema: credentialRecord },
    204: { description: 'Revoked.' },
  },
  errors: [],
});
