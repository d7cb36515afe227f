import {
  type FireOutcome,
  type MissedPolicy,
  type OverlapPolicy,
  type ScheduleStatus,
  type SessionMode,
  organizationId,
  runId,
  scheduleId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import type { JsonObject } from '../../domain/json.ts';
import type { Fire, Schedule, ScheduleSummary } from '../../domain/schedule/schedule.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { ScheduleRepository } from '../../ports/repositories/schedules.ts';
import { pageOf } from '../page.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { labelsIn, labelsText } from './labels.ts';

export function scheduleRepository(db: Transaction): ScheduleRepository {
  return { ...rows(db), ...lists(db), ...fires(db) };
}

type FireStatements = 'insertFires' | 'listFires' | 'forgetFires' | 'purge';

type ListStatements = 'list' | 'count' | 'due' | 'tryLockDue';

function rows(db: Transaction): Omit<ScheduleRepository, FireStatements | ListStatements> {
  return {
    async insert(schedule) {
      await db.run(sql`
        insert into schedules (
          id, organization_id, tenant_id, name, agent_name, cron, time_zone, input, session_mode,
          session_id, owns_session, overlap, missed, missed_within_ms, status, status_reason,
          next_at, last_slot_at, last_run_id, skipped_in_row, version, created_by,
          created_by_kind, created_at, updated_at, labels
        ) values (
          ${schedule.id}, ${schedule.organizationId}, ${schedule.tenantId}, ${schedule.name},
          ${schedule.agentName}, ${schedule.cron}, ${schedule.timeZone},
          ${JSON.stringify(schedule.input)}, ${schedule.sessionMode}, ${schedule.sessionId},
          ${schedule.ownsSession ? 1 : 0}, ${schedule.overlap}, ${schedule.missed},
          ${schedule.missedWithinMs}, ${schedule.status}, ${schedule.statusReason},
          ${schedule.nextAt}, ${schedule.lastSlotAt}, ${schedule.lastRunId}, ${schedule.skippedInRow}, ${schedule.version},
          ${schedule.createdBy.id}, ${schedule.createdBy.kind},
          ${schedule.createdAt}, ${schedule.updatedAt}, ${labelsText(schedule.labels)}
        )`);
    },

    async find(scope, id) {
      const row = await db.get<ScheduleRow>(
        sql`select * from schedules where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && scheduleOf(row);
    },

    async lock(scope, id) {
      const row = await db.get<ScheduleRow>(sql`
        select * from schedules where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdate}`);
      return row && scheduleOf(row);
    },

    async save(next, seen) {
      const changed = await db.run(sql`
        update schedules set
          name = ${next.name}, cron = ${next.cron}, time_zone = ${next.timeZone},
          input = ${JSON.stringify(next.input)}, labels = ${labelsText(next.labels)}, session_id = ${next.sessionId},
          owns_session = ${next.ownsSession ? 1 : 0}, overlap = ${next.overlap},
          missed = ${next.missed}, missed_within_ms = ${next.missedWithinMs},
          status = ${next.status}, status_reason = ${next.statusReason}, next_at = ${next.nextAt},
          last_slot_at = ${next.lastSlotAt}, last_run_id = ${next.lastRunId},
          skipped_in_row = ${next.skippedInRow}, version = ${next.version}, created_by = ${next.createdBy.id},
          created_by_kind = ${next.createdBy.kind}, updated_at = ${next.updatedAt}
        where id = ${seen.id} and tenant_id = ${seen.tenantId} and version = ${seen.version}
          and coalesce(next_at, 0) = ${seen.nextAt ?? 0}`);
      return changed === 1;
    },

    async remove(scope, id) {
      const removed = await db.run(
        sql`delete from schedules where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return removed === 1;
    },
  };
}

function lists(db: Transaction): Pick<ScheduleRepository, ListStatements> {
  return {
    async list(scope, filter, page) {
      const where = [sql`tenant_id = ${scope.tenantId}`];
      if (filter.status !== undefined) where.push(sql`status = ${filter.status}`);
      if (filter.agentName !== undefined) where.push(sql`agent_name = ${filter.agentName}`);
      const rows = await db.all<SummaryRow>(sql`
        select ${summaryColumns} from schedules
        where ${sql.join(where, ' and ')} ${pageOf(page, 'id')}`);
      return rows.map(summaryOf);
    },

    async count(scope) {
      const row = await db.get<{ count: number }>(
        sql`select count(*) as count from schedules where tenant_id = ${scope.tenantId}`,
      );
      return row?.count ?? 0;
    },

    async due(now, limit) {
      const rows = await db.all<{ id: string }>(sql`
        select id from schedules where status = 'active' and next_at <= ${now}
        order by next_at limit ${limit}`);
      return rows.map((row) => scheduleId(row.id));
    },

    async tryLockDue(id, now) {
      const row = await db.get<ScheduleRow>(sql`
        select * from schedules where id = ${id} and status = 'active' and next_at <= ${now}
        ${sql.forUpdateSkipLocked}`);
      return row && scheduleOf(row);
    },
  };
}

function fires(db: Transaction): Pick<ScheduleRepository, FireStatements> {
  return {
    async insertFires(list) {
      if (list.length === 0) return;
      const rows = list.map(
        (fire) => sql`(${fire.scheduleId}, ${fire.slotAt}, ${fire.tenantId}, ${fire.firedAt},
          ${fire.outcome}, ${fire.runId}, ${fire.sessionId}, ${fire.code})`,
      );
      await db.run(sql`
        insert into schedule_fires (schedule_id, slot_at, tenant_id, fired_at, outcome, run_id,
          session_id, code)
        values ${sql.join(rows)}`);
    },

    async listFires(scope, id, { limit, order, after }) {
      const direction = order === 'asc' ? sql`asc` : sql`desc`;
      const rows = await db.all<FireRow>(sql`
        select * from schedule_fires
        where schedule_id = ${id} and tenant_id = ${scope.tenantId} ${beyond(order, after)}
        order by slot_at ${direction} limit ${limit}`);
      return rows.map(fireOf);
    },

    async forgetFires(before, limit) {
      const removed = await db.run(sql`
        delete from schedule_fires where (schedule_id, slot_at) in (
          select schedule_id, slot_at from schedule_fires where fired_at < ${before} limit ${limit})`);
      return removed === limit;
    },

    async purge(tenant, limit) {
      // Schedules first: a server that just deals with one holds its row, and has added its fires after this statement.
      await db.run(sql`delete from schedules where tenant_id = ${tenant}`);
      const removed = await db.run(sql`
        delete from schedule_fires where (schedule_id, slot_at) in (
          select schedule_id, slot_at from schedule_fires where tenant_id = ${tenant} limit ${limit})`);
      return removed < limit;
    },
  };
}

/** `after` comes from a cursor that this service made: it is the slot of a row. */
function beyond(order: PageRequest['order'], after: string | undefined): Statement {
  if (after === undefined) return sql``;
  const slot = Number(after);
  return order === 'asc' ? sql`and slot_at > ${slot}` : sql`and slot_at < ${slot}`;
}

interface ScheduleRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  name: string;
  agent_name: string;
  cron: string;
  time_zone: string;
  input: string;
  labels: string | null;
  session_mode: SessionMode;
  session_id: string | null;
  owns_session: number;
  overlap: OverlapPolicy;
  missed: MissedPolicy;
  missed_within_ms: number;
  status: ScheduleStatus;
  status_reason: string | null;
  next_at: number | null;
  last_slot_at: number | null;
  last_run_id: string | null;
  skipped_in_row: number;
  version: number;
  created_by: string;
  created_by_kind: 'client' | 'user';
  created_at: number;
  updated_at: number;
}

type SummaryRow = Omit<ScheduleRow, 'input'>;

const summaryColumns = sql`id, organization_id, tenant_id, name, agent_name, cron, time_zone, labels,
  session_mode, session_id, owns_session, overlap, missed, missed_within_ms, status, status_reason,
  next_at, last_slot_at, last_run_id, skipped_in_row, version, created_by, created_by_kind,
  created_at, updated_at`;

function scheduleOf(row: ScheduleRow): Schedule {
  return { ...summaryOf(row), input: JSON.parse(row.input) as JsonObject };
}

function summaryOf(row: SummaryRow): ScheduleSummary {
  return {
    id: scheduleId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    name: row.name,
    agentName: row.agent_name,
    cron: row.cron,
    timeZone: row.time_zone,
    labels: labelsIn(row),
    sessionMode: row.session_mode,
    sessionId: row.session_id === null ? null : sessionId(row.session_id),
    ownsSession: row.owns_session === 1,
    overlap: row.overlap,
    missed: row.missed,
    missedWithinMs: row.missed_within_ms,
    status: row.status,
    statusReason: row.status_reason,
    nextAt: row.next_at,
    lastSlotAt: row.last_slot_at,
    lastRunId: row.last_run_id === null ? null : runId(row.last_run_id),
    skippedInRow: row.skipped_in_row,
    version: row.version,
    createdBy: { kind: row.created_by_kind, id: row.created_by },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

interface FireRow {
  schedule_id: string;
  slot_at: number;
  tenant_id: string;
  fired_at: number;
  outcome: FireOutcome;
  run_id: string | null;
  session_id: string | null;
  code: string | null;
}

function fireOf(row: FireRow): Fire {
  return {
    scheduleId: scheduleId(row.schedule_id),
    slotAt: row.slot_at,
    tenantId: tenantId(row.tenant_id),
    firedAt: row.fired_at,
    outcome: row.outcome,
    runId: row.run_id === null ? null : runId(row.run_id),
    sessionId: row.session_id === null ? null : sessionId(row.session_id),
    code: row.code,
  };
}
