import {
  type RunErrorCode,
  type RunId,
  type RunStatus,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import {
  type EndedRun,
  type Lease,
  type QueuedRun,
  type Run,
  type StartedRun,
  type TokenUsage,
  type InterruptionReason,
  continueAtOf,
  leaseOf,
  readyAtOf,
} from '../../domain/run.ts';
import type { RunRepository } from '../../ports/repositories/runs.ts';
import { fromJsonText, toJsonText } from '../json-text.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { executingOf, readyRuns } from './ready-runs.ts';
import { runBacklog } from './run-backlog.ts';

const idsPerStatement = 64;
const generousShare = 32;

export function runRepository(db: Transaction): RunRepository {
  return {
    async insert(run) {
      const lease = leaseOf(run);
      await db.run(sql`
        insert into runs (
          id, organization_id, tenant_id, session_id, agent_name, number, status, input,
          pending_interactions, last_seq, last_event_at, ready_at, lease_owner, lease_epoch,
          lease_expires_at, created_at, started_at
        ) values (
          ${run.id}, ${run.organizationId}, ${run.tenantId}, ${run.sessionId}, ${run.agentName},
          ${run.number}, ${run.status}, ${run.input}, ${run.pendingInteractions}, ${run.lastSeq},
          ${run.lastEventAt}, ${readyAtOf(run)}, ${lease?.owner ?? null}, ${run.leaseEpoch},
          ${lease?.expiresAt ?? null}, ${run.createdAt}, ${'startedAt' in run ? run.startedAt : null}
        )`);
    },

    async find(scope, session, id) {
      const row = await db.get<RunRow>(sql`
        select * from runs
        where id = ${id} and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && runOf(row);
    },

    async findById(scope, id) {
      const row = await db.get<RunRow>(
        sql`select * from runs where id = ${id} and tenant_id = ${scope.tenantId}`,
      );
      return row && runOf(row);
    },

    async lock(id) {
      const row = await db.get<RunRow>(sql`select * from runs where id = ${id} ${sql.forUpdate}`);
      return row && runOf(row);
    },

    async save(next, seen) {
      const lease = leaseOf(next);
      const error = next.status === 'failed' ? next.error : null;
      const changed = await db.run(sql`
        update runs set
          status = ${next.status}, output_text = ${toJsonText(next.outputText)},
          error_code = ${error?.code ?? null}, error_message = ${toJsonText(error?.message)},
          pending_interactions = ${next.pendingInteractions}, last_seq = ${next.lastSeq},
          last_event_at = ${next.lastEventAt}, ready_at = ${readyAtOf(next)},
          continue_at = ${continueAtOf(next)}, losses = ${next.losses},
          losses_total = ${next.lossesTotal}, interrupted_by = ${next.interruptedBy},
          lease_owner = ${lease?.owner ?? null}, lease_epoch = ${next.leaseEpoch},
          lease_expires_at = ${lease?.expiresAt ?? null},
          input_tokens = ${next.usage?.inputTokens ?? null},
          output_tokens = ${next.usage?.outputTokens ?? null},
          started_at = ${'startedAt' in next ? next.startedAt : null},
          ended_at = ${'endedAt' in next ? next.endedAt : null},
          cancel_requested_at = ${'cancelRequestedAt' in next ? next.cancelRequestedAt : null},
          recovered = ${'recovered' in next && next.recovered ? 1 : 0}
        where id = ${seen.id} and status = ${seen.status}
          and lease_epoch = ${seen.leaseEpoch} and last_seq = ${seen.lastSeq}`);
      return changed === 1;
    },

    async extendLog({ runId: id, epoch, count, now }) {
      const row = await db.get<{ last_seq: number; last_event_at: number }>(sql`
        update runs set
          last_seq = last_seq + ${count},
          last_event_at = case when last_event_at > ${now} then last_event_at else ${now} end
        where id = ${id} and lease_epoch = ${epoch} and lease_owner is not null
          and status in ('running', 'waiting', 'cancelling')
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
      const rows = await db.all<RunRow>(
        sql`select * from runs where ${sql.join(where, ' and ')} ${pageOf(page, 'id')}`,
      );
      return rows.map(runOf);
    },

    async newestId(session) {
      const row = await db.get<{ id: string }>(sql`
        select id from runs where session_id = ${session} order by number desc limit 1`);
      return row && runId(row.id);
    },

    async queued(session) {
      const rows = await db.all<RunRow>(sql`
        select * from runs where session_id = ${session} and status = 'queued' order by number`);
      return rows.map(queuedRunOf);
    },

    async readyNext(session, now) {
      await db.run(sql`
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
      const rows = await db.all<RunRow>(sql`
        select * from runs where status = 'cancelling' and lease_owner is null limit ${limit}`);
      return rows.map(runOf);
    },

    async expiredLeases(now, limit) {
      const rows = await db.all<RunRow>(sql`
        select * from runs where lease_owner is not null and lease_expires_at < ${now}
        order by lease_expires_at limit ${limit}`);
      return rows.map(runOf);
    },

    async leasedBy(owner) {
      const rows = await db.all<RunRow>(sql`select * from runs where lease_owner = ${owner}`);
      return rows.map(runOf);
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

    async voidLeasesExcept(owner) {
      await db.run(sql`
        update runs set lease_expires_at = 0
        where lease_owner is not null and lease_owner <> ${owner}`);
    },
  };
}

interface RunRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  session_id: string;
  agent_name: string;
  number: number;
  status: RunStatus;
  input: string;
  output_text: string | null;
  error_code: RunErrorCode | null;
  error_message: string | null;
  pending_interactions: number;
  last_seq: number;
  last_event_at: number;
  ready_at: number | null;
  lease_owner: string | null;
  lease_epoch: number;
  lease_expires_at: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  cancel_requested_at: number | null;
  recovered: number;
  continue_at: number | null;
  losses: number;
  losses_total: number;
  interrupted_by: InterruptionReason | null;
}

function runOf(row: RunRow): Run {
  switch (row.status) {
    case 'queued':
      return queuedRunOf(row);
    case 'running':
    case 'waiting':
    case 'cancelling':
      return startedRunOf(row);
    case 'completed':
    case 'failed':
    case 'cancelled':
      return endedRunOf(row);
    default:
      return row.status satisfies never;
  }
}

function queuedRunOf(row: RunRow): QueuedRun {
  return { ...recordOf(row), status: 'queued', readyAt: row.ready_at };
}

function startedRunOf(row: RunRow): StartedRun {
  const lease = leaseIn(row);
  const started = { ...recordOf(row), startedAt: row.started_at ?? broken(row) };
  if (row.status === 'cancelling') {
    const cancelRequestedAt = row.cancel_requested_at ?? broken(row);
    return { ...started, status: 'cancelling', lease, cancelRequestedAt };
  }
  if (row.status === 'running') {
    if (lease !== null) return { ...started, status: 'running', lease };
    return { ...started, status: 'running', lease, continueAt: row.continue_at ?? broken(row) };
  }
  if (lease === null) return { ...started, status: 'waiting', lease, readyAt: row.ready_at };
  return { ...started, status: 'waiting', lease };
}

function endedRunOf(row: RunRow): EndedRun {
  const ended = {
    ...recordOf(row),
    startedAt: row.started_at,
    cancelRequestedAt: row.cancel_requested_at,
    endedAt: row.ended_at ?? broken(row),
    recovered: row.recovered === 1,
  };
  if (row.status === 'completed' || row.status === 'cancelled') {
    return { ...ended, status: row.status };
  }
  const code = row.error_code ?? broken(row);
  const message = fromJsonText<string>(row.error_message) ?? broken(row);
  return { ...ended, status: 'failed', error: { code, message } };
}

function recordOf(row: RunRow) {
  return {
    id: runId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    agentName: row.agent_name,
    number: row.number,
    input: row.input,
    outputText: fromJsonText<string>(row.output_text),
    usage: usageIn(row),
    pendingInteractions: row.pending_interactions,
    lastSeq: row.last_seq,
    lastEventAt: row.last_event_at,
    leaseEpoch: row.lease_epoch,
    createdAt: row.created_at,
    losses: row.losses,
    lossesTotal: row.losses_total,
    interruptedBy: row.interrupted_by,
  };
}

function leaseIn({ lease_owner: owner, lease_expires_at: expiresAt }: RunRow): Lease | null {
  return owner === null || expiresAt === null ? null : { owner, expiresAt };
}

function usageIn({ input_tokens, output_tokens }: RunRow): TokenUsage | null {
  if (input_tokens === null || output_tokens === null) return null;
  return { inputTokens: input_tokens, outputTokens: output_tokens };
}

function broken(row: RunRow): never {
  throw new Error(`the row of run ${row.id} does not fit the status ${row.status}`);
}
