import { type RunId, type TenantId, organizationId, runId, tenantId } from '@convoke/contract';
import type { TokenUsage } from '../../../domain/usage/usage.ts';
import type { RunRepository } from '../../../ports/repositories/runs/runs.ts';
import type { NounRow } from '../../columns.ts';
import { fromJsonText } from '../../json-text.ts';
import { readLarge } from '../../page.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { exhaustedBudget } from '../usage/budgets.ts';
import { labelsText } from './labels.ts';
import { executingOf, readyRuns } from './ready-runs.ts';
import { runBacklog } from './run-backlog.ts';
import { isBelow, queuedRunOf, runOf, runTable } from './run-columns.ts';

/** A machine that is back has this long to claim what is held for it. */
const claimMs = 5_000;
const idsPerStatement = 64;
const generousShare = 32;

export function runRepository(db: Transaction): RunRepository {
  return {
    async insert(run, guard) {
      if (guard === undefined) {
        // Without a select: SQLite takes a third longer for one.
        db.later(runTable.insert(run));
        return true;
      }
      const { now, isUnpriced } = guard;
      const inserted = await db.run(sql`
        ${runTable.insertSelected(run)}
        where not exists (select 1 from budgets where ${exhaustedBudget({ run, now, isUnpriced })})`);
      return inserted === 1;
    },

    async find(scope, session, id) {
      const row = await db.get<NounRow>(sql`
        select * from runs
        where id = ${id} and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && runOf(row);
    },

    async findById(scope, id) {
      const row = await db.get<NounRow>(
        sql`select * from runs where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && runOf(row);
    },

    async ownerOf(id) {
      const row = await db.get<{ organization_id: string; tenant_id: string }>(
        sql`select organization_id, tenant_id from runs where id = ${id}`,
      );
      if (row === undefined) return undefined;
      const { organization_id: organization, tenant_id: tenant } = row;
      return { organizationId: organizationId(organization), tenantId: tenantId(tenant) };
    },

    async agentsOf(ids) {
      if (ids.length === 0) return [];
      const wanted = sql.join(ids.map((id) => sql`${id}`));
      const rows = await db.all<{ agent_name: string }>(sql`
        select agent_name from runs where id in (${wanted})`);
      return rows.map((row) => row.agent_name);
    },

    async completed(scope, ids) {
      if (ids.length === 0) return [];
      const wanted = sql.join(ids.map((id) => sql`${id}`));
      const rows = await db.all<CompletedRow>(sql`
        select id, output_text, output from runs
        where id in (${wanted}) and tenant_id = ${scope.tenantId} and status = 'completed'`);
      return rows.map(({ id, output_text: text, output }) => ({
        id: runId(id),
        outputText: fromJsonText<string>(text),
        output,
      }));
    },

    async countBelow(path, most) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from (select id from runs where ${isBelow(path)} limit ${most}) as counted`);
      return row?.n ?? 0;
    },

    async lock(id) {
      const row = await db.get<NounRow>(sql`select * from runs where id = ${id} ${sql.forUpdate}`);
      return row && runOf(row);
    },

    save(next, seen) {
      db.changeOneLater(sql`
        update runs set ${runTable.assignments(next)}
        where id = ${seen.id} and status = ${seen.status}
          and lease_epoch = ${seen.leaseEpoch} and last_seq = ${seen.lastSeq}`);
    },

    async extendLog({ runId: id, epoch, count, now, usage = null }) {
      const row = await db.get<{ last_seq: number; last_event_at: number }>(sql`
        update runs set
          last_seq = last_seq + ${count},
          ${usage === null ? sql`` : addition(usage)}
          last_event_at = case when last_event_at > ${now} then last_event_at else ${now} end
        where id = ${id} and lease_epoch = ${epoch} and lease_owner is not null
          and (status = 'running' or status = 'waiting' or status = 'cancelling')
        returning last_seq, last_event_at`);
      return row && { lastSeq: row.last_seq, at: row.last_event_at };
    },

    async lastSeqs(ids) {
      const found: { id: RunId; lastSeq: number }[] = [];
      for (let from = 0; from < ids.length; from += idsPerStatement) {
        const wanted = ids.slice(from, from + idsPerStatement);
        // Always the same number of placeholders, so that there is one statement to prepare.
        const placeholders = Array.from(
          { length: idsPerStatement },
          (_, at) => sql`${wanted[at] ?? ''}`,
        );
        const rows = await db.all<{ id: string; last_seq: number }>(
          sql`select id, last_seq from runs where id in (${sql.join(placeholders)})`,
        );
        found.push(...rows.map((row) => ({ id: runId(row.id), lastSeq: row.last_seq })));
      }
      return found;
    },

    async list(scope, { sessionId: session, filter, page }) {
      const where = [sql`session_id = ${session}`, sql`tenant_id = ${scope.tenantId}`];
      if (filter.status !== undefined) where.push(sql`status = ${filter.status}`);
      const { items, isCut } = await readLarge<NounRow>(db, {
        table: 'runs',
        key: 'id',
        columns: sql`runs.*`,
        large: [sql`input`, sql`output_text`, sql`output`, sql`error_message`, sql`labels`],
        where: sql.join(where, ' and '),
        page,
      });
      return { items: items.map(runOf), isCut };
    },

    async newestId(session) {
      const row = await db.get<{ id: string }>(sql`
        select id from runs where session_id = ${session} order by number desc limit 1`);
      return row && runId(row.id);
    },

    async queued(session) {
      const rows = await db.all<NounRow>(sql`
        select * from runs where session_id = ${session} and status = 'queued' order by number`);
      return rows.map(queuedRunOf);
    },

    async nextQueued(session) {
      const row = await db.get<NounRow>(sql`
        select * from runs where session_id = ${session} and status = 'queued'
        order by number limit 1 ${sql.forUpdate}`);
      return row && queuedRunOf(row);
    },

    readyNext(session, now) {
      db.later(sql`
        update runs set ready_at = ${now} where id = (
          select id from runs where session_id = ${session} and status = 'queued'
          order by number limit 1
        )`);
    },

    async queuedBefore(session, number) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from runs
        where session_id = ${session} and number < ${number} and status = 'queued'`);
      return row?.n ?? 0;
    },

    claimable: (bounds) => readyRuns(db, bounds),

    backlog: (most) => runBacklog(db, most),

    async parkedCancellations(limit) {
      const rows = await db.all<NounRow>(sql`
        select * from runs where status = 'cancelling' and lease_owner is null limit ${limit}`);
      return rows.map(runOf);
    },

    async expiredLeases(now, limit) {
      const rows = await db.all<NounRow>(sql`
        select * from runs where lease_owner is not null and lease_expires_at < ${now}
        order by lease_expires_at limit ${limit}`);
      return rows.map(runOf);
    },

    async heldTooLong(now, limit) {
      const rows = await db.all<NounRow>(sql`
        select * from runs
        where continue_at is not null and hold_until is not null and hold_until <= ${now}
          and continue_at <= ${now - claimMs}
        order by continue_at, id limit ${limit}`);
      return rows.map(runOf);
    },

    async leasedBy(owner) {
      const rows = await db.all<NounRow>(sql`select * from runs where lease_owner = ${owner}`);
      return rows.map(runOf);
    },

    async saveLabels(id, labels) {
      await db.run(sql`update runs set labels = ${labelsText(labels)} where id = ${id}`);
    },

    async forgetLosses(id) {
      await db.run(sql`update runs set losses = 0 where id = ${id}`);
    },

    async renewLeases(owner, expiresAt) {
      await db.run(sql`
        update runs set lease_expires_at = ${expiresAt} where lease_owner = ${owner}`);
    },

    async hasFreeSlot(tenant, perTenant) {
      // Far below the limit no lock is needed: fewer than half of it can be claimed concurrently.
      const isGenerous = perTenant >= generousShare;
      if (isGenerous && (await executingOf(db, tenant)) * 2 < perTenant) return true;
      await db.get(sql`select id from tenants where id = ${tenant} ${sql.forNoKeyUpdate}`);
      return (await executingOf(db, tenant)) < perTenant;
    },

    async hasHalfFree(tenant, perTenant) {
      const [locked, executing] = await Promise.all([
        perTenant >= generousShare ? { id: tenant } : tryLockTenant(db, tenant),
        executingOf(db, tenant),
      ]);
      return locked !== undefined && executing * 2 < perTenant;
    },

    async voidLeasesExcept(owner) {
      await db.run(sql`
        update runs set lease_expires_at = 0
        where lease_owner is not null and lease_owner <> ${owner}`);
    },
  };
}

interface CompletedRow {
  readonly id: string;
  readonly output_text: string | null;
  readonly output: string | null;
}

function tryLockTenant(db: Transaction, tenant: TenantId): Promise<{ id: string } | undefined> {
  return db.get(sql`select id from tenants where id = ${tenant} ${sql.forNoKeyUpdateSkipLocked}`);
}

function addition({ inputTokens, outputTokens, costMicros, currency }: TokenUsage): Statement {
  const cost = sql`
    cost_micros = coalesce(cost_micros, 0) + ${costMicros}, cost_currency = ${currency},`;
  return sql`
    input_tokens = coalesce(input_tokens, 0) + ${inputTokens},
    output_tokens = coalesce(output_tokens, 0) + ${outputTokens},
    ${costMicros === null ? sql`` : cost}`;
}
