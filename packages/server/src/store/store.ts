import type { Store, StoreTransaction } from '../ports/store.ts';
import { eventPartitions } from './event-partitions.ts';
import type { MigratableDatabase } from './migrate.ts';
import { type SealHead, auditRepository } from './repositories/audit.ts';
import { blobRemovalRepository } from './repositories/blob-removals.ts';
import { budgetRepository } from './repositories/usage/budgets.ts';
import { changedRunRepository } from './repositories/runs/changed-runs.ts';
import { clientRepository } from './repositories/identity/clients.ts';
import { connectionRepository } from './repositories/connections.ts';
import { credentialRepository } from './repositories/identity/credentials.ts';
import { feedbackRepository } from './repositories/runs/feedback.ts';
import { feedRepository } from './repositories/delivery/feeds.ts';
import { deliveryRepository } from './repositories/delivery/deliveries.ts';
import { fileRepository } from './repositories/files.ts';
import { idempotencyRepository } from './repositories/idempotency.ts';
import { identityRecordRepository } from './repositories/identity/identity-records.ts';
import { interactionRepository } from './repositories/runs/interactions.ts';
import { invitationRepository } from './repositories/identity/invitations.ts';
import { labelRepository } from './repositories/runs/labels.ts';
import { organizationRepository } from './repositories/identity/organizations.ts';
import { outboxRepository } from './repositories/delivery/outbox.ts';
import { passwordRepository } from './repositories/identity/passwords.ts';
import { rateLimitRepository } from './repositories/rate-limits.ts';
import { pastCallRepository } from './repositories/runs/past-calls.ts';
import { ruleRepository } from './repositories/rules.ts';
import { runEventRepository } from './repositories/runs/run-events.ts';
import { runRepository } from './repositories/runs/runs.ts';
import { scheduleRepository } from './repositories/schedules.ts';
import { sessionRepository } from './repositories/runs/sessions.ts';
import { signingKeyRepository } from './repositories/identity/signing-keys.ts';
import { tenantListRepository } from './repositories/runs/tenant-lists.ts';
import { tenantRepository } from './repositories/identity/tenants.ts';
import { toolCallRepository } from './repositories/runs/tool-calls.ts';
import { usageTotalRepository } from './repositories/usage/usage-totals.ts';
import { usageRepository } from './repositories/usage/usage.ts';
import { webhookRepository } from './repositories/delivery/webhooks.ts';
import { waitRepository } from './repositories/runs/waits.ts';
import { withdrawalRepository } from './repositories/identity/withdrawals.ts';
import type { Reader, Transaction } from './sql-database.ts';
import { sql } from './sql.ts';

export function createStore(database: MigratableDatabase, sealHead?: SealHead): Store {
  return {
    read: new SqlRepositories(readOnly(database), sealHead),
    transaction: (work) => database.transaction((tx) => work(new SqlRepositories(tx, sealHead))),
    now: () => timeOf(database),
    inTenantScope: (tenantId, work) => database.inTenantScope(tenantId, work),
    acceptsWrites: () => database.acceptsWrites?.() ?? Promise.resolve(true),
    eventPartitions: eventPartitions(database),
    close: () => database.close(),
  };
}

async function timeOf(database: MigratableDatabase): Promise<number> {
  const row = await database.get<{ now: number }>(
    database.dialect === 'postgres'
      ? sql`select floor(extract(epoch from clock_timestamp()) * 1000) as now`
      : sql`select cast(unixepoch('subsec') * 1000 as integer) as now`,
  );
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}

/** Creates each repository on first use: a transaction uses few of them. */
class SqlRepositories implements StoreTransaction {
  readonly #db: Transaction;
  readonly #sealHead: SealHead | undefined;
  readonly #made: { -readonly [Noun in keyof StoreTransaction]?: StoreTransaction[Noun] } = {};

  constructor(db: Transaction, sealHead: SealHead | undefined) {
    this.#db = db;
    this.#sealHead = sealHead;
  }

  onCommit(effect: () => void): void {
    this.#db.onCommit(effect);
  }

  get audit() {
    return (this.#made.audit ??= auditRepository(this.#db, this.#sealHead));
  }

  get toolCalls() {
    return (this.#made.toolCalls ??= toolCallRepository(this.#db));
  }

  get budgets() {
    return (this.#made.budgets ??= budgetRepository(this.#db));
  }

  get usage() {
    return (this.#made.usage ??= usageRepository(this.#db));
  }

  get usageTotals() {
    return (this.#made.usageTotals ??= usageTotalRepository(this.#db));
  }

  get organizations() {
    return (this.#made.organizations ??= organizationRepository(this.#db));
  }

  get invitations() {
    return (this.#made.invitations ??= invitationRepository(this.#db));
  }

  get passwords() {
    return (this.#made.passwords ??= passwordRepository(this.#db));
  }

  get pastCalls() {
    return (this.#made.pastCalls ??= pastCallRepository(this.#db));
  }

  get rules() {
    return (this.#made.rules ??= ruleRepository(this.#db));
  }

  get identityRecords() {
    return (this.#made.identityRecords ??= identityRecordRepository(this.#db));
  }

  get tenants() {
    return (this.#made.tenants ??= tenantRepository(this.#db));
  }

  get clients() {
    return (this.#made.clients ??= clientRepository(this.#db));
  }

  get credentials() {
    return (this.#made.credentials ??= credentialRepository(this.#db));
  }

  get withdrawals() {
    return (this.#made.withdrawals ??= withdrawalRepository(this.#db));
  }

  get signingKeys() {
    return (this.#made.signingKeys ??= signingKeyRepository(this.#db));
  }

  get idempotency() {
    return (this.#made.idempotency ??= idempotencyRepository(this.#db));
  }

  get rateLimits() {
    return (this.#made.rateLimits ??= rateLimitRepository(this.#db));
  }

  get sessions() {
    return (this.#made.sessions ??= sessionRepository(this.#db));
  }

  get runs() {
    return (this.#made.runs ??= runRepository(this.#db));
  }

  get runEvents() {
    return (this.#made.runEvents ??= runEventRepository(this.#db));
  }

  get interactions() {
    return (this.#made.interactions ??= interactionRepository(this.#db));
  }

  get waits() {
    return (this.#made.waits ??= waitRepository(this.#db));
  }

  get files() {
    return (this.#made.files ??= fileRepository(this.#db));
  }

  get blobRemovals() {
    return (this.#made.blobRemovals ??= blobRemovalRepository(this.#db));
  }

  get outbox() {
    return (this.#made.outbox ??= outboxRepository(this.#db));
  }

  get connections() {
    return (this.#made.connections ??= connectionRepository(this.#db));
  }

  get feedback() {
    return (this.#made.feedback ??= feedbackRepository(this.#db));
  }

  get labels() {
    return (this.#made.labels ??= labelRepository(this.#db));
  }

  get changedRuns() {
    return (this.#made.changedRuns ??= changedRunRepository(this.#db));
  }

  get tenantLists() {
    return (this.#made.tenantLists ??= tenantListRepository(this.#db));
  }

  get feeds() {
    return (this.#made.feeds ??= feedRepository(this.#db));
  }

  get schedules() {
    return (this.#made.schedules ??= scheduleRepository(this.#db));
  }

  get webhooks() {
    return (this.#made.webhooks ??= webhookRepository(this.#db));
  }

  get deliveries() {
    return (this.#made.deliveries ??= deliveryRepository(this.#db));
  }
}

function readOnly(database: Reader): Transaction {
  const refuse = () => {
    throw new Error('a write needs a transaction');
  };
  return {
    all: (statement) => database.all(statement),
    get: (statement) => database.get(statement),
    run: refuse,
    later: refuse,
    changeOneLater: refuse,
    onCommit: refuse,
  };
}
