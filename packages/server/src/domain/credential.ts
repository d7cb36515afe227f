import { type ClientId, type CredentialId, type CredentialStatus, limits } from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * One secret of an automation client. Only its HMAC is stored (D-65). It is `active` until it is `revoked`
 * or `expired`; both are final.
 */
export interface Credential {
  readonly id: CredentialId;
  readonly clientId: ClientId;
  readonly label: string;
  readonly secretHmac: string;
  readonly secretHint: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export function credentialStatus(credential: Credential, now: number): CredentialStatus {
  if (credential.revokedAt !== null) return 'revoked';
  return credential.expiresAt <= now ? 'expired' : 'active';
}

export type NewCredential = Pick<
  Credential,
  'id' | 'clientId' | 'label' | 'secretHmac' | 'secretHint'
>;

export function openCredential(
  fresh: NewCredential,
  { lifetimeDays, now }: { readonly lifetimeDays: number; readonly now: number },
): Credential {
  const expiresAt = now + lifetimeDays * dayMs;
  return { ...fresh, createdAt: now, expiresAt, revokedAt: null, lastUsedAt: null };
}

/** Spec §8: at most two live credentials, so that a secret can be replaced without downtime. */
export function mayAddCredential(liveCredentials: number): Ruling<undefined> {
  return liveCredentials < limits.liveCredentialsPerClient
    ? accepted(undefined)
    : refused('credential_limit_reached');
}

const dayMs = 24 * 60 * 60 * 1000;
