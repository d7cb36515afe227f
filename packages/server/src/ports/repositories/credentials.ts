import type { ClientId, CredentialId } from '@convoke/contract';
import type { Credential } from '../../domain/credential.ts';

export interface CredentialRepository {
  insert(credential: Credential): Promise<void>;
  find(clientId: ClientId, id: CredentialId): Promise<Credential | undefined>;
  /** The oldest one, which came with the client. */
  first(clientId: ClientId): Promise<Credential | undefined>;
  /** Those not revoked first, newest first, bounded. */
  list(clientId: ClientId): Promise<Credential[]>;
  revoke(id: CredentialId, now: number): Promise<boolean>;
  revokeAll(clientId: ClientId, now: number): Promise<void>;
  /** Those that are neither revoked nor expired. */
  live(clientId: ClientId, now: number): Promise<Credential[]>;
  markUsed(id: CredentialId, now: number): Promise<void>;
}
