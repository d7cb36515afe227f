import { type RunId, type SessionId, type TenantId, clientId } from '@convoke/contract';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { createSession } from '../../src/app/sessions.ts';
import type { TenantScope } from '../../src/domain/scope.ts';
import { createIds } from '../../src/runtime/ids.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import type { Transaction } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import type { DatabaseKind } from './databases.ts';
import type { RunFixture } from './run-fixture.ts';

/** Rows of a tenant that do not name it: of a session, and of budgets. */
export const tiedTables = [
  'session_states',
  'budgets',
  'budget_periods',
  'budget_notices',
] as const;

export interface Schema {
  /** With a column `tenant_id`. */
  readonly ofTenants: readonly string[];
  readonly others: readonly string[];
}

/** The tables of the database, without partitions. */
export async function readSchema(
  database: MigratableDatabase,
  kind: DatabaseKind,
): Promise<Schema> {
  const rows = await database.all<{ name: string; owned: number }>(
    kind === 'sqlite'
      ? sql`
        select name, exists (select 1 from pragma_table_info(sqlite_master.name) as columns
          where columns.name = 'tenant_id') as owned
        from sqlite_master
        where type = 'table' and name <> 'schema_migrations' and name not like 'sqlite_%'`
      : sql`
        select relname as name, case when exists (select from pg_attribute
          where attrelid = pg_class.oid and attname = 'tenant_id') then 1 else 0 end as owned
        from pg_class
        where relkind in ('r', 'p') and not relispartition and relname <> 'schema_migrations'
          and relnamespace = 'public'::regnamespace`,
  );
  const named = (owned: number) =>
    rows.filter((row) => row.owned === owned).map(({ name }) => name);
  return { ofTenants: named(1).toSorted(), others: named(0).toSorted() };
}

/** How many rows of a tenant each table has. */
export async function countRows(
  database: MigratableDatabase,
  { ofTenants }: Schema,
  filled: FilledTenant,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const count = async (table: string, where: string, value: string) => {
    const strings = [`select count(*) as n from ${table} where ${where} = `, ''];
    counts[table] = (await database.get<{ n: number }>({ strings, values: [value] }))?.n ?? -1;
  };
  for (const table of ofTenants) await count(table, 'tenant_id', filled.tenantId);
  await count('session_states', 'session_id', filled.sessionId);
  await count('budgets', 'id', filled.budgetId);
  await count('budget_periods', 'budget_id', filled.budgetId);
  await count('budget_notices', 'budget_id', filled.budgetId);
  return counts;
}

export interface FilledTenant {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly budgetId: string;
}

/** Writes one row of a tenant into every table: its run has ended, and what was counted is counted. */
export async function fillTables(world: RunFixture, scope: TenantScope): Promise<FilledTenant> {
  const services = { ...world, ids: createIds(world.clock) };
  const usual = { idempotencyKey: undefined, chargeRate: () => {} };
  const session = await createSession(services, scope, { ...usual, agentName: 'agent' });
  const { id: sessionId } = session.resource;
  const input = { prompt: 'hi' };
  const by = clientId('cli_1');
  const run = await startRun(services, scope, { ...usual, sessionId, input, clientId: by });
  const { id: runId } = run.resource;
  await cancelRun(services, scope, { sessionId, runId });
  const { tenantId, organizationId } = scope;
  const filled = { tenantId, sessionId, runId, budgetId: `budget of ${tenantId}` };
  const at = world.clock.now();
  await world.database.transaction(async (tx) => {
    await tx.run(sql`update runs set is_usage_due = ${0} where id = ${runId}`);
    await tx.run(sql`delete from run_events where run_id = ${runId} and seq > ${1}`);
    await tx.run(sql`
      insert into session_states (session_id, checkpoint) values (${sessionId}, ${'{}'})`);
    await tx.run(sql`
      insert into blob_removals (tenant_id, owner_id, sha256, due_at, claimed)
      values (${tenantId}, ${'file_1'}, ${''}, ${at}, ${0})`);
    await tx.run(sql`insert into labels (owner_id, key, tenant_id, value)
      values (${runId}, ${'a'}, ${tenantId}, ${'b'})`);
    await tx.run(sql`
      insert into idempotency_keys (scope, key, tenant_id, fingerprint, resource_id, created_at)
      values (${`${tenantId}:invoke_agent`}, ${'k'}, ${tenantId}, ${'f'}, ${runId}, ${at})`);
    await fillRun(tx, { ...filled, organizationId, at });
    await fillFeed(tx, tenantId, at);
    await fillPlans(tx, { ...filled, organizationId, at });
    await fillUsage(tx, { ...filled, organizationId, at });
  });
  return filled;
}

interface Place extends FilledTenant {
  readonly organizationId: string;
  readonly at: number;
}

async function fillRun(tx: Transaction, place: Place): Promise<void> {
  const { tenantId, organizationId, sessionId, runId, at } = place;
  await tx.run(sql`
    insert into files (id, organization_id, tenant_id, session_id, name, content_type, status,
      created_at)
    values (${`file of ${tenantId}`}, ${organizationId}, ${tenantId}, ${sessionId}, ${'a'},
      ${'text/plain'}, ${'pending'}, ${at})`);
  await tx.run(sql`
    insert into interactions (interaction_key, organization_id, tenant_id, session_id, run_id, kind,
      status, request_id, multiple, created_at)
    values (${`int of ${tenantId}`}, ${organizationId}, ${tenantId}, ${sessionId}, ${runId},
      ${'question'}, ${'pending'}, ${'q'}, ${0}, ${at})`);
  await tx.run(sql`
    insert into waits (id, organization_id, tenant_id, session_id, run_id, kind, name, status,
      created_at)
    values (${`wait of ${tenantId}`}, ${organizationId}, ${tenantId}, ${sessionId}, ${runId},
      ${'signal'}, ${'paid'}, ${'settled'}, ${at})`);
  await tx.run(sql`
    insert into feedback (run_id, key, author, organization_id, tenant_id, session_id, score,
      created_at, updated_at)
    values (${runId}, ${'rating'}, ${'client:cli_1'}, ${organizationId}, ${tenantId}, ${sessionId},
      ${1}, ${at}, ${at})`);
  await tx.run(sql`
    insert into tool_calls (run_id, ref, tenant_id, epoch, tool_name, input, touches, status,
      begun_at)
    values (${runId}, ${'call'}, ${tenantId}, ${1}, ${'pay'}, ${'{}'}, ${'outside'}, ${'begun'},
      ${at})`);
}

async function fillFeed(tx: Transaction, tenantId: TenantId, at: number): Promise<void> {
  const body = JSON.stringify({ type: 'run_queued', created_at: new Date(at).toISOString() });
  await tx.run(sql`delete from outbox where tenant_id = ${tenantId}`);
  await tx.run(sql`
    insert into outbox (tenant_id, type, body) values (${tenantId}, ${'run_queued'}, ${body})`);
  await tx.run(sql`
    insert into feeds (tenant_id, last_seq, oldest_seq) values (${tenantId}, ${1}, ${1})`);
  await tx.run(sql`
    insert into notices (tenant_id, seq, type, body, created_at)
    values (${tenantId}, ${1}, ${'run_queued'}, ${body}, ${at})`);
}

async function fillPlans(tx: Transaction, place: Place): Promise<void> {
  const { tenantId, organizationId, at } = place;
  const [schedule, webhook] = [`sch of ${tenantId}`, `wh of ${tenantId}`];
  await tx.run(sql`
    insert into schedules (id, organization_id, tenant_id, name, agent_name, cron, time_zone, input,
      session_mode, owns_session, overlap, missed, missed_within_ms, status, skipped_in_row, version,
      created_by, created_by_kind, created_at, updated_at)
    values (${schedule}, ${organizationId}, ${tenantId}, ${'a'}, ${'agent'}, ${'* * * * *'},
      ${'UTC'}, ${'{}'}, ${'new'}, ${0}, ${'skip'}, ${'once'}, ${0}, ${'paused'}, ${0}, ${1},
      ${'cli_1'}, ${'client'}, ${at}, ${at})`);
  await tx.run(sql`
    insert into schedule_fires (schedule_id, slot_at, tenant_id, fired_at, outcome)
    values (${schedule}, ${at}, ${tenantId}, ${at}, ${'skipped'})`);
  await tx.run(sql`
    insert into webhooks (id, organization_id, tenant_id, url, types, status, sealed_secret,
      secret_hint, version, failures_in_row, not_before, created_by, created_by_kind, created_at,
      updated_at)
    values (${webhook}, ${organizationId}, ${tenantId}, ${'https://x/'}, ${'[]'}, ${'disabled'},
      ${'x'}, ${'x'}, ${1}, ${0}, ${0}, ${'cli_1'}, ${'client'}, ${at}, ${at})`);
  await tx.run(sql`
    insert into connections (id, organization_id, tenant_id, service, end_user, auth, sealed, status,
      version, refresh_epoch, created_by, created_by_kind, created_at, updated_at)
    values (${`con of ${tenantId}`}, ${organizationId}, ${tenantId}, ${'crm'}, ${''}, ${'{}'},
      ${'x'}, ${'connected'}, ${1}, ${0}, ${'cli_1'}, ${'client'}, ${at}, ${at})`);
  await tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, tenant_id, type, status, tries, next_try_at,
      created_at)
    values (${`whd of ${tenantId}`}, ${webhook}, ${tenantId}, ${'x'}, ${'pending'}, ${0}, ${at},
      ${at})`);
}

async function fillUsage(tx: Transaction, place: Place): Promise<void> {
  const { tenantId, organizationId, sessionId, runId, budgetId, at } = place;
  await tx.run(sql`
    insert into usage_entries (run_id, epoch, seq, tenant_id, organization_id, session_id,
      agent_name, model, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, at,
      is_counted)
    values (${runId}, ${1}, ${1}, ${tenantId}, ${organizationId}, ${sessionId}, ${'agent'}, ${'m'},
      ${1}, ${1}, ${0}, ${0}, ${at}, ${1})`);
  await tx.run(sql`
    insert into usage_totals (tenant_id, grain, starts_at, agent_name, model, client_id, session_id,
      organization_id, completed, failed, cancelled, run_ms, input_tokens, output_tokens,
      cached_input_tokens, reasoning_tokens)
    values (${tenantId}, ${'day'}, ${at}, ${'agent'}, ${'m'}, ${''}, ${''}, ${organizationId}, ${1},
      ${0}, ${0}, ${1}, ${1}, ${1}, ${0}, ${0})`);
  await tx.run(sql`
    insert into usage_label_totals (tenant_id, label_key, starts_at, label_value, organization_id,
      completed, failed, cancelled, run_ms, input_tokens, output_tokens, cached_input_tokens,
      reasoning_tokens)
    values (${tenantId}, ${'a'}, ${at}, ${'b'}, ${organizationId}, ${1}, ${0}, ${0}, ${1}, ${1},
      ${1}, ${0}, ${0})`);
  await tx.run(sql`
    insert into budgets (id, organization_id, scope_kind, scope_id, period, max_tokens, version,
      created_by, created_at, updated_at)
    values (${budgetId}, ${organizationId}, ${'tenant'}, ${tenantId}, ${'day'}, ${1}, ${1},
      ${'usr_1'}, ${at}, ${at})`);
  await tx.run(sql`
    insert into budget_periods (budget_id, starts_at, shard, tokens, cost_micros)
    values (${budgetId}, ${at}, ${0}, ${1}, ${1})`);
  await tx.run(sql`
    insert into budget_notices (budget_id, starts_at, percent) values (${budgetId}, ${at}, ${80})`);
}
