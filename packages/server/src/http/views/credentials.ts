import type { CredentialRecord, IssuedCredential } from '@convoke/contract';
import type { IssuedSecret } from '../../app/clients.ts';
import type { Withdrawn } from '../../app/withdrawals.ts';
import { type Credential, credentialStatus } from '../../domain/credential.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';
import { pendingView } from './withdrawals.ts';

/** A credential as the API shows it, without its secret (D-60). */
export function credentialView(
  { resource: credential, pending }: Withdrawn<Credential>,
  now: number,
): CredentialRecord {
  return {
    id: credential.id,
    label: credential.label,
    status: credentialStatus(credential, now),
    secret_hint: credential.secretHint,
    pending_operation: pending && pendingView(pending),
    created_at: isoTime(credential.createdAt),
    expires_at: isoTime(credential.expiresAt),
    revoked_at: timeIn(credential.revokedAt),
    last_used_at: timeIn(credential.lastUsedAt),
  };
}

/** A credential at the moment it was issued. */
export function issuedView(credential: Credential): CredentialRecord {
  return credentialView({ resource: credential, pending: undefined }, credential.createdAt);
}

/** The one answer that shows a secret (D-62, D-65). */
export function issuedCredentialView({
  client,
  credential,
  secret,
}: IssuedSecret): IssuedCredential {
  return {
    credential: issuedView(credential),
    client_id: client.oauthClientId,
    client_secret: secret,
  };
}
