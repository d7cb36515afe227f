import type { ClientId, CredentialId } from '@convoke/contract';
import type { Credential } from '../../../domain/credential.ts';

export interface CredentialRepository {
  insert(credential: Credential): Promise<void>;
  find(clientId: ClientId, id: CredentialId): Promise<Credential | undefined>;
  /** The oldest credential, which was created with the client. */
  first(clientId: ClientId): Promise<Credential | undefined>;
  /** Not revoked ones first, then newest first; bounded. */
  list(clientId: ClientId): Promise<Credential[]>;
  revoke(id: CredentialId, now: number): Promise<boolean>;
  revokeAll(clientId: ClientId, now: number): Promise<void>;
  /** Credentials that are neither revoked nor expired. */
  live(clientId: ClientId, now: number): Promise<Credential[]>;
  markUsed(id: CredentialId, now: number): Promise<void>;
}
