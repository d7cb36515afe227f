import type { TenantId } from '@convoke/contract';
import type { EventPartitions } from './event-partitions.ts';
import type { AuditRepository } from './repositories/audit.ts';
import type { BlobRemovalRepository } from './repositories/blob-removals.ts';
import type { BudgetRepository } from './repositories/usage/budgets.ts';
import type { ChangedRunRepository } from './repositories/runs/changed-runs.ts';
import type { ClientRepository } from './repositories/identity/clients.ts';
import type { ConnectionRepository } from './repositories/connections.ts';
import type { CredentialRepository } from './repositories/identity/credentials.ts';
import type { FeedbackRepository } from './repositories/runs/feedback.ts';
import type { FeedRepository } from './repositories/delivery/feeds.ts';
import type { FileRepository } from './repositories/files.ts';
import type { IdempotencyRepository } from './repositories/idempotency.ts';
import type { IdentityRecordRepository } from './repositories/identity/identity-records.ts';
import type { InteractionRepository } from './repositories/runs/interactions.ts';
import type { InvitationRepository } from './repositories/identity/invitations.ts';
import type { LabelRepository } from './repositories/runs/labels.ts';
import type { OrganizationRepository } from './repositories/identity/organizations.ts';
import type { OutboxRepository } from './repositories/delivery/outbox.ts';
import type { PastCallRepository } from './repositories/runs/past-calls.ts';
import type { PasswordRepository } from './repositories/identity/passwords.ts';
import type { RateLimitRepository } from './repositories/rate-limits.ts';
import type { RuleRepository } from './repositories/rules.ts';
import type { RunEventRepository } from './repositories/runs/run-events.ts';
import type { RunRepository } from './repositories/runs/runs.ts';
import type { ScheduleRepository } from './repositories/schedules.ts';
import type { SessionRepository } from './repositories/runs/sessions.ts';
import type { SigningKeyRepository } from './repositories/identity/signing-keys.ts';
import type { TenantListRepository } from './repositories/runs/tenant-lists.ts';
import type { TenantRepository } from './repositories/identity/tenants.ts';
import type { ToolCallRepository } from './repositories/runs/tool-calls.ts';
import type { UsageTotalRepository } from './repositories/usage/usage-totals.ts';
import type { UsageRepository } from './repositories/usage/usage.ts';
import type { DeliveryRepository, WebhookRepository } from './repositories/delivery/webhooks.ts';
import type { WaitRepository } from './repositories/runs/waits.ts';
import type { WithdrawalRepository } from './repositories/identity/withdrawals.ts';

/**
 * One repository per noun. Those of tenants' data take the `TenantScope` first. A write that returns nothing happens
 * with the next one that returns a promise, at the latest with the commit; if it fails, the transaction does.
 */
export interface Repositories {
  readonly audit: AuditRepository;
  readonly toolCalls: ToolCallRepository;
  readonly organizations: OrganizationRepository;
  readonly invitations: InvitationRepository;
  readonly passwords: PasswordRepository;
  readonly rules: RuleRepository;
  readonly pastCalls: PastCallRepository;
  readonly identityRecords: IdentityRecordRepository;
  readonly tenants: TenantRepository;
  readonly clients: ClientRepository;
  readonly credentials: CredentialRepository;
  readonly withdrawals: WithdrawalRepository;
  readonly signingKeys: SigningKeyRepository;
  readonly idempotency: IdempotencyRepository;
  readonly rateLimits: RateLimitRepository;
  readonly sessions: SessionRepository;
  readonly runs: RunRepository;
  readonly changedRuns: ChangedRunRepository;
  readonly runEvents: RunEventRepository;
  readonly feedback: FeedbackRepository;
  readonly interactions: InteractionRepository;
  readonly waits: WaitRepository;
  readonly budgets: BudgetRepository;
  readonly usage: UsageRepository;
  readonly usageTotals: UsageTotalRepository;
  readonly files: FileRepository;
  readonly blobRemovals: BlobRemovalRepository;
  readonly outbox: OutboxRepository;
  readonly labels: LabelRepository;
  readonly tenantLists: TenantListRepository;
  readonly feeds: FeedRepository;
  readonly schedules: ScheduleRepository;
  readonly webhooks: WebhookRepository;
  readonly deliveries: DeliveryRepository;
  readonly connections: ConnectionRepository;
}

export interface StoreTransaction extends Repositories {
  /** Runs once the commit is durable, and never otherwise. */
  onCommit(effect: () => void): void;
}

export interface Store {
  /** Reads outside a transaction: committed rows only. */
  readonly read: Repositories;
  /**
   * Commits all of `work` or nothing. `work` awaits only the transaction; it may run again (`Database.transaction`).
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** The time of the database: the one clock that all servers of a service share. */
  now(): Promise<number>;
  /**
   * Runs `work`, and everything it starts, in the scope of one tenant: PostgreSQL's row-level security then hides the
   * rows of other tenants from every statement. Work outside `inTenantScope` belongs to the service and sees all
   * tenants.
   */
  inTenantScope<T>(tenantId: TenantId, work: () => T): T;
  /** False while the disk of this server is full (SQLite); reads still work. */
  acceptsWrites(): Promise<boolean>;
  /** The partitions of the event log. */
  readonly eventPartitions: EventPartitions;
  close(): Promise<void>;
}
