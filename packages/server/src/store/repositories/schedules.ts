import { scheduleId } from '@convoke/contract';
import type { JsonObject } from '../../domain/json.ts';
import type { Fire, Schedule, ScheduleSummary } from '../../domain/schedule/schedule.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { ScheduleRepository } from '../../ports/repositories/schedules.ts';
import { type NounRow, type TableParts, flag, made, nounTable, number, text } from '../columns.ts';
import { pageOf } from '../page.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { creator } from './creator.ts';
import { labelsIn, labelsText } from './runs/labels.ts';

/** The columns of a schedule: a new field of a schedule is one line here. */
// biome-ignore format: a table
const summaryFields: TableParts<ScheduleSummary>['fields'] = {
  id: text('id', 'fixed'),
  organizationId: text('organization_id', 'fixed'),
  tenantId: text('tenant_id', 'fixed'),
  name: text('name'),
  agentName: text('agent_name', 'fixed'),
  endUser: text('end_user', 'fixed'),
  cron: text('cron'),
  timeZone: text('time_zone'),
  labels: made({ labels: { kind: 'text', write: ({ labels }) => labelsText(labels) } }, labelsIn),
  sessionMode: text('session_mode', 'fixed'),
  sessionId: text('session_id'),
  ownsSession: flag('owns_session'),
  overlap: text('overlap'),
  missed: text('missed'),
  missedWithinMs: number('missed_within_ms'),
  status: text('status'),
  statusReason: text('status_reason'),
  nextAt: number('next_at'),
  lastSlotAt: number('last_slot_at'),
  lastRunId: text('last_run_id'),
  skippedInRow: number('skipped_in_row'),
  version: number('version'),
  createdBy: creator(),
  createdAt: number('created_at', 'fixed'),
  updatedAt: number('updated_at'),
};

const scheduleTable = nounTable<Schedule>('schedules', {
  fields: {
    ...summaryFields,
    input: made(
      { input: { kind: 'text', write: ({ input }) => JSON.stringify(input) } },
      (row: { input: string }) => JSON.parse(row.input) as JsonObject,
    ),
  },
});
const summaryTable = nounTable<ScheduleSummary>('schedules', { fields: summaryFields });

/** The outcome of a slot has no id of its own. */
interface FireRow {
  readonly schedule_id: string;
}

const fireTable = nounTable<Fire, FireRow>('schedule_fires', {
  // biome-ignore format: a table
  fields: {
    scheduleId: text('schedule_id'),
    slotAt: number('slot_at'),
    tenantId: text('tenant_id'),
    firedAt: number('fired_at'),
    outcome: text('outcome'),
    runId: text('run_id'),
    sessionId: text('session_id'),
    code: text('code'),
  },
});

export function scheduleRepository(db: Transaction): ScheduleRepository {
  return { ...rows(db), ...lists(db), ...fires(db) };
}

type FireStatements = 'insertFires' | 'listFires' | 'forgetFires' | 'purge';

type ListStatements = 'list' | 'count' | 'due' | 'tryLockDue';

function rows(db: Transaction): Omit<ScheduleRepository, FireStatements | ListStatements> {
  return {
    async insert(schedule) {
      await db.run(scheduleTable.insert(schedule));
    },

    async find(scope, id) {
      const row = await db.get<NounRow>(
        sql`select * from schedules where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && scheduleTable.read(row);
    },

    async lock(scope, id) {
      const row = await db.get<NounRow>(sql`
        select * from schedules where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdate}`);
      return row && scheduleTable.read(row);
    },

    async save(next, seen) {
      const changed = await db.run(sql`
        update schedules set ${scheduleTable.assignments(next)}
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
      const rows = await db.all<NounRow>(sql`
        select ${summaryTable.columns} from schedules
        where ${sql.join(where, ' and ')} ${pageOf(page, 'id')}`);
      return rows.map(summaryTable.read);
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
      const row = await db.get<NounRow>(sql`
        select * from schedules where id = ${id} and status = 'active' and next_at <= ${now}
        ${sql.forUpdateSkipLocked}`);
      return row && scheduleTable.read(row);
    },
  };
}

function fires(db: Transaction): Pick<ScheduleRepository, FireStatements> {
  return {
    async insertFires(list) {
      if (list.length === 0) return;
      await db.run(fireTable.insertAll(list));
    },

    async listFires(scope, id, { limit, order, after }) {
      const direction = order === 'asc' ? sql`asc` : sql`desc`;
      const rows = await db.all<FireRow>(sql`
        select * from schedule_fires
        where schedule_id = ${id} and tenant_id = ${scope.tenantId} ${beyond(order, after)}
        order by slot_at ${direction} limit ${limit}`);
      return rows.map(fireTable.read);
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
