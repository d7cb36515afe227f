import type { TenantId } from '@convoke/contract';
import type { EventPartitions } from './event-partitions.ts';
import type { AuditRepository } from './repositories/audit.ts';
import type { ClientRepository } from './repositories/clients.ts';
import type { CredentialRepository } from './repositories/credentials.ts';
import type { FileRepository } from './repositories/files.ts';
import type { IdempotencyRepository } from './repositories/idempotency.ts';
import type { IdentityRecordRepository } from './repositories/identity-records.ts';
import type { InteractionRepository } from './repositories/interactions.ts';
import type { OrganizationRepository } from './repositories/organizations.ts';
import type { PasswordRepository } from './repositories/passwords.ts';
import type { RunEventRepository } from './repositories/run-events.ts';
import type { RunRepository } from './repositories/runs.ts';
import type { SessionRepository } from './repositories/sessions.ts';
import type { SigningKeyRepository } from './repositories/signing-keys.ts';
import type { TenantRepository } from './repositories/tenants.ts';
import type { WithdrawalRepository } from './repositories/withdrawals.ts';

/** One repository per noun. Those of tenants' data take the `TenantScope` first. */
export interface Repositories {
  readonly audit: AuditRepository;
  readonly organizations: OrganizationRepository;
  readonly passwords: PasswordRepository;
  readonly identityRecords: IdentityRecordRepository;
  readonly tenants: TenantRepository;
  readonly clients: ClientRepository;
  readonly credentials: CredentialRepository;
  readonly withdrawals: WithdrawalRepository;
  readonly signingKeys: SigningKeyRepository;
  readonly idempotency: IdempotencyRepository;
  readonly sessions: SessionRepository;
  readonly runs: RunRepository;
  readonly runEvents: RunEventRepository;
  readonly interactions: InteractionRepository;
  readonly files: FileRepository;
}

export interface StoreTransaction extends Repositories {
  /** Runs once the commit is durable, and never otherwise. */
  onCommit(effect: () => void): void;
}

export interface Store {
  /** Reads outside a transaction: committed rows only. */
  readonly read: Repositories;
  /** All of it or nothing. `work` awaits nothing but the transaction; it may be run again after a deadlock. */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** What time it is where the database is: the one clock that all servers of a service share. */
  now(): Promise<number>;
  /**
   * Runs `work`, and all it starts, for one tenant: where the database can (PostgreSQL), it then keeps every
   * statement from rows of other tenants, whatever the statement says. Other work is the service's own.
   */
  confine<T>(tenantId: TenantId, work: () => T): T;
  /** False while the disk of this server keeps nothing more (SQLite); reads may go on. */
  takesWrites(): Promise<boolean>;
  /** How the event log lies in storage. */
  readonly eventPartitions: EventPartitions;
  close(): Promise<void>;
}
