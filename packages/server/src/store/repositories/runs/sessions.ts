import { type SessionStatus, runId, sessionId, tenantId } from '@convoke/contract';
import type { Label } from '../../../domain/labels.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Session } from '../../../domain/session.ts';
import {
  type SessionRepository,
  type SessionState,
  newSessionState,
} from '../../../ports/repositories/runs/sessions.ts';
import { type NounRow, flag, made, nounTable, number, text, writtenOnly } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { labelsIn, labelsText } from './labels.ts';

/** As in the migration that filled `changed_period`: short, since a search for unused sessions reads all of one. */
const periodMs = 10 * 60_000;

/** The columns of a session: a new field of a session is one line here. */
const sessionTable = nounTable<Session>('sessions', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    agentName: text('agent_name', 'fixed'),
    title: text('title'),
    labels: made({ labels: { kind: 'text', write: ({ labels }) => labelsText(labels) } }, labelsIn),
    createdBy: text('created_by', 'fixed'),
    endUser: text('end_user', 'fixed'),
    status: text('status'),
    statusReason: text('status_reason'),
    filesSupported: flag('files_supported', 'fixed'),
    currentRunId: text('current_run_id'),
    queuedRuns: number('queued_runs'),
    runCount: number('run_count'),
    pendingInteractions: number('pending_interactions'),
    stopMode: text('stop_mode'),
    createdAt: number('created_at', 'fixed'),
    updatedAt: number('updated_at'),
    stoppedAt: number('stopped_at'),
    endedAt: number('ended_at'),
  },
  extra: writtenOnly<Session>({
    changed_period: { kind: 'bigint', write: ({ updatedAt }) => periodOf(updatedAt) },
  }),
});

export function sessionRepository(db: Transaction): SessionRepository {
  return {
    insert(session) {
      db.later(sessionTable.insert(session));
    },

    async find(scope, id) {
      const row = await db.get<NounRow>(
        sql`select * from sessions where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && sessionTable.read(row);
    },

    async lock(scope, id) {
      const row = await db.get<NounRow>(sql`
        select * from sessions where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdate}`);
      return row && sessionTable.read(row);
    },

    async tryLock(scope, id) {
      const row = await db.get<NounRow>(sql`
        select * from sessions
        where id = ${id} and tenant_id = ${scope.tenantId} ${sql.forUpdateSkipLocked}`);
      return row && sessionTable.read(row);
    },

    save(session) {
      db.later(sql`
        update sessions set ${sessionTable.assignments(session)}
        where id = ${session.id} and tenant_id = ${session.tenantId}`);
    },

    async saveNames(session) {
      await db.run(sql`
        update sessions set title = ${session.title}, labels = ${labelsText(session.labels)}
        where id = ${session.id} and tenant_id = ${session.tenantId}`);
    },

    async list(scope, filter, page) {
      const { status, agentName, labels = [], upTo, expiredBefore } = filter;
      const [label, ...others] = labels;
      const where = [sql`sessions.tenant_id = ${scope.tenantId}`];
      if (status !== undefined) where.push(hasStatus(status, expiredBefore));
      if (agentName !== undefined) where.push(sql`agent_name = ${agentName}`);
      if (label === undefined) {
        const rows = await db.all<NounRow>(
          sql`select * from sessions where ${sql.join(where, ' and ')} ${pageOf(page, 'id')}`,
        );
        return rows.map(sessionTable.read);
      }
      if (upTo !== undefined) {
        const last = page.order === 'asc' ? sql`<= ${upTo}` : sql`>= ${upTo}`;
        where.push(sql`labels.owner_id ${last}`);
      }
      const conditions = [labelled(scope, label), ...others.map((one) => hasLabel(scope, one))];
      const rows = await db.all<NounRow>(sql`
        select sessions.* from labels join sessions on sessions.id = labels.owner_id
        where ${sql.join([...conditions, ...where], ' and ')} ${pageOf(page, 'owner_id')}`);
      return rows.map(sessionTable.read);
    },

    async lastLabelled(scope, label, page) {
      const row = await db.get<{ id: string }>(sql`
        select owner_id as id from labels
        where ${labelled(scope, label)} ${pageOf({ ...page, limit: 1 }, 'owner_id')}
        offset ${page.limit - 1}`);
      return row?.id;
    },

    async unusedSince(before, limit) {
      const rows = await db.all<NounRow>(sql`
        select * from sessions
        where ended_at is null and changed_period <= ${periodOf(before)}
          and status in ('idle', 'stopped') and updated_at < ${before}
        order by changed_period limit ${limit}`);
      return rows.map(sessionTable.read);
    },

    async usable(ids) {
      if (ids.length === 0) return [];
      const rows = await db.all<{ id: string }>(sql`
        select id from sessions
        where id in (${sql.join(ids.map((id) => sql`${id}`))})
          and status not in ('stopped', 'failed', 'terminated')`);
      return rows.map((row) => sessionId(row.id));
    },

    async state(id) {
      const row = await db.get<StateRow>(sql`
        select checkpoint, context, snapshot, checkpoint_run_id, checkpoint_seq,
          checkpoint_format, checkpoint_agent
        from session_states where session_id = ${id}`);
      if (row === undefined) return newSessionState;
      const { checkpoint, context, snapshot, checkpoint_run_id: run, checkpoint_seq: seq } = row;
      const point = run === null || seq === null ? null : { runId: runId(run), seq };
      return { checkpoint, context, snapshot, point, made: makerIn(row) };
    },

    saveCheckpoint(id, { text, point, format, agent }) {
      db.later(sql`
        insert into session_states (session_id, checkpoint, checkpoint_run_id, checkpoint_seq,
          checkpoint_format, checkpoint_agent)
        values (${id}, ${text}, ${point?.runId ?? null}, ${point?.seq ?? null},
          ${format}, ${agent})
        on conflict (session_id) do update set checkpoint = excluded.checkpoint,
          checkpoint_run_id = excluded.checkpoint_run_id, checkpoint_seq = excluded.checkpoint_seq,
          checkpoint_format = excluded.checkpoint_format,
          checkpoint_agent = excluded.checkpoint_agent`);
    },

    saveContext(id, context, snapshot) {
      db.later(sql`
        insert into session_states (session_id, context, snapshot)
        values (${id}, ${context}, ${snapshot ?? null})
        on conflict (session_id) do update set context = excluded.context,
          snapshot = coalesce(excluded.snapshot, session_states.snapshot)`);
    },

    async snapshot(id) {
      const row = await db.get<Pick<SessionState, 'snapshot'>>(
        sql`select snapshot from session_states where session_id = ${id}`,
      );
      return row?.snapshot ?? null;
    },

    async endedWithSnapshot(before, limit) {
      const rows = await db.all<{ id: string; tenant_id: string; snapshot: string }>(sql`
        select sessions.id, sessions.tenant_id, snapshot
        from session_states join sessions on sessions.id = session_states.session_id
        where snapshot is not null and sessions.ended_at < ${before} limit ${limit}`);
      return rows.map(({ id, tenant_id: tenant, snapshot }) => ({
        sessionId: sessionId(id),
        tenantId: tenantId(tenant),
        snapshot,
      }));
    },

    async forgetSnapshot(id, seen) {
      const changed = await db.run(sql`
        update session_states set snapshot = null where session_id = ${id} and snapshot = ${seen}`);
      return changed === 1;
    },

    async endedBefore(ids, before) {
      if (ids.length === 0) return [];
      const rows = await db.all<{ id: string }>(sql`
        select id from sessions
        where id in (${sql.join(ids.map((id) => sql`${id}`))}) and ended_at < ${before}`);
      return rows.map((row) => sessionId(row.id));
    },

    saveSnapshot(id, snapshot) {
      db.later(sql`
        insert into session_states (session_id, snapshot) values (${id}, ${snapshot})
        on conflict (session_id) do update set snapshot = excluded.snapshot`);
    },
  };
}

function periodOf(time: number): number {
  return Math.floor(time / periodMs);
}

/** The rows of `labels` for sessions: runs have labels, too, and the ids of sessions are a range. */
function labelled({ tenantId: tenant }: TenantScope, { key, value }: Label): Statement {
  return sql`labels.tenant_id = ${tenant} and labels.key = ${key} and labels.value = ${value}
    and labels.owner_id >= ${'sess_'} and labels.owner_id < ${'sess`'}`;
}

/** A further label of the session: a lookup in the index `labels_find`. */
function hasLabel({ tenantId: tenant }: TenantScope, { key, value }: Label): Statement {
  return sql`exists (select 1 from labels as other where other.tenant_id = ${tenant}
    and other.key = ${key} and other.value = ${value} and other.owner_id = labels.owner_id)`;
}

/** D-17: an expired session is listed as `terminated`, even before a worker has stored that. */
function hasStatus(status: SessionStatus, expiredBefore: number | undefined): Statement {
  if (expiredBefore === undefined) return sql`status = ${status}`;
  const isExpired = sql`(status in ('idle', 'stopped') and updated_at < ${expiredBefore})`;
  if (status === 'terminated') return sql`(status = ${status} or ${isExpired})`;
  return sql`status = ${status} and not ${isExpired}`;
}

interface MakerColumns {
  readonly checkpoint_format: number | null;
  readonly checkpoint_agent: string | null;
}

function makerIn({ checkpoint_format: format, checkpoint_agent: agent }: MakerColumns) {
  return format === null || agent === null ? null : { format, agent };
}

interface StateRow extends Omit<SessionState, 'point' | 'made'>, MakerColumns {
  readonly checkpoint_run_id: string | null;
  readonly checkpoint_seq: number | null;
}
