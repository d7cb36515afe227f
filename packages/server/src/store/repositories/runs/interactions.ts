import {
  type InteractionKey,
  type InteractionStatus,
  type OrganizationId,
  type SessionId,
  type TenantId,
  limits,
} from '@convoke/contract';
import type { ApplicationActor } from '../../../domain/access.ts';
import { refPrefixLength } from '../../../domain/connections/asked-account.ts';
import type { ClosedInteraction } from '../../../domain/interaction.ts';
import type { InteractionRepository } from '../../../ports/repositories/runs/interactions.ts';
import { readLarge } from '../../page.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import {
  type InteractionRow,
  interactionOf,
  interactionTable,
  memoryIn,
  pendingOf,
  settledOf,
  unset,
} from './interaction-rows.ts';

interface ConnectedRow {
  readonly organization_id: OrganizationId;
  readonly tenant_id: TenantId;
  readonly session_id: SessionId;
  readonly interaction_key: InteractionKey;
  readonly created_by: string;
  readonly created_by_kind: ApplicationActor['kind'];
}

/** Answered, or denied because its time was over (D-522). */
const isSettled = sql`(status = 'answered' or decided_by = 'expiry')`;

export function interactionRepository(db: Transaction): InteractionRepository {
  return {
    async insert(item) {
      await db.run(interactionTable.insert({ ...unset, ...item }));
    },

    async find(scope, session, key) {
      const row = await db.get<InteractionRow>(sql`
        select * from interactions where interaction_key = ${key}
          and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && interactionOf(row);
    },

    async ofRequests(run, requests) {
      if (requests.length === 0) return [];
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where run_id = ${run}
          and request_id in (${listed(requests)})`);
      return rows.map(interactionOf);
    },

    async findByRequest(run, requestId) {
      const row = await db.get<InteractionRow>(sql`
        select * from interactions where run_id = ${run} and request_id = ${requestId}`);
      return row && interactionOf(row);
    },

    async settle(item) {
      const changed = await db.run(sql`
        update interactions set ${interactionTable.assignments({ ...unset, ...item })}
        where interaction_key = ${item.key} and tenant_id = ${item.tenantId} and status = 'pending'`);
      return changed === 1;
    },

    async saveApprovals({ key, tenantId, approvals = [] }) {
      const changed = await db.run(sql`
        update interactions set approvals = ${JSON.stringify(approvals)}
        where interaction_key = ${key} and tenant_id = ${tenantId} and status = 'pending'`);
      return changed === 1;
    },

    async askedForConnected(limit) {
      const rows = await db.all<ConnectedRow>(sql`
        select i.organization_id, i.tenant_id, i.session_id, i.interaction_key,
          c.created_by, c.created_by_kind
        from interactions i
        join sessions s on s.id = i.session_id and s.tenant_id = i.tenant_id
        join connections c on c.tenant_id = i.tenant_id and c.end_user = s.end_user
          and c.service = substr(i.request_id, ${refPrefixLength + 1}) and c.status = 'connected'
        where i.status = 'pending' and i.request_id >= 'connection-missing:'
          and i.request_id < 'connection-missing;'
        order by i.interaction_key limit ${limit}`);
      return rows.map((row) => ({
        organizationId: row.organization_id,
        tenantId: row.tenant_id,
        sessionId: row.session_id,
        key: row.interaction_key,
        connectedBy: { kind: row.created_by_kind, id: row.created_by },
      }));
    },

    async cancelPending(run) {
      const rows = await db.all<InteractionRow>(sql`
        update interactions set status = 'cancelled' where run_id = ${run} and status = 'pending'
        returning *`);
      return rows.map((row) => interactionOf(row) as ClosedInteraction);
    },

    async countPending(run) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from interactions where run_id = ${run} and status = 'pending'`);
      return row?.n ?? 0;
    },

    async pending(run, limit) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where run_id = ${run} and status = 'pending'
        order by interaction_key limit ${limit}`);
      return rows.map(interactionTable.read).map(pendingOf);
    },

    async unapplied(run) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where run_id = ${run} and ${isSettled} and applied_at is null order by interaction_key`);
      return rows.map(interactionTable.read).map(settledOf);
    },

    async answered(run) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where run_id = ${run} and ${isSettled} order by answered_at, interaction_key`);
      return rows.map(interactionTable.read).map(settledOf);
    },

    async usable(run, calls) {
      if (calls.length === 0) return [];
      const tools = new Set(calls.map(({ toolName }) => toolName));
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where run_id = ${run} and ${isSettled}
          and (decided_by is null or decided_by <> 'rule')
          and (spent_on is null or spent_on in (${listed(calls.map(({ ref }) => ref))}))
          and tool_name in (${listed([...tools])})
        order by answered_at, interaction_key`);
      return rows.map(interactionTable.read).map(settledOf);
    },

    async spend(key, ref) {
      const changed = await db.run(sql`
        update interactions set spent_on = ${ref}
        where interaction_key = ${key} and (spent_on is null or spent_on = ${ref})`);
      return changed === 1;
    },

    async memories({ tenantId, sessionId: session, toolNames }) {
      if (toolNames.length === 0) return [];
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where session_id = ${session} and tenant_id = ${tenantId}
          and remembered is not null and tool_name in (${listed(toolNames)})
        order by interaction_key limit ${limits.memoriesMax}`);
      return rows.map(interactionTable.read).flatMap(memoryIn);
    },

    async countMemories({ tenantId, sessionId: session }) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from interactions
        where session_id = ${session} and tenant_id = ${tenantId} and remembered is not null`);
      return row?.n ?? 0;
    },

    async forget({ key, tenantId }) {
      const changed = await db.run(sql`
        update interactions set remembered = null
        where interaction_key = ${key} and tenant_id = ${tenantId} and remembered is not null`);
      return changed === 1;
    },

    async markApplied(run, now) {
      await db.run(sql`
        update interactions set applied_at = ${now}
        where run_id = ${run} and ${isSettled} and applied_at is null`);
    },

    async list(scope, { sessionId: session, status, isRemembered = false, now, page }) {
      const where = [sql`session_id = ${session}`, sql`tenant_id = ${scope.tenantId}`];
      if (isRemembered) where.push(sql`remembered is not null`);
      if (status !== 'all') where.push(hasStatus(status, now));
      const { items, isCut } = await readLarge<InteractionRow>(db, {
        table: 'interactions',
        key: 'interaction_key',
        columns: sql`interactions.*`,
        large: [sql`tool_input`, sql`question`, sql`options`, sql`about`, sql`answer`],
        where: sql.join(where, ' and '),
        page,
      });
      return { items: items.map(interactionOf), isCut };
    },

    async overdue(now, of, limit) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where status = 'pending' and expires_at < ${now}
          and ${of === 'parked' ? sql`not ${ofAwakeRun}` : sql`kind = 'permission' and ${ofAwakeRun}`}
        order by expires_at limit ${limit}`);
      return rows.map(interactionTable.read).map(pendingOf);
    },
  };
}

function listed(texts: readonly string[]): Statement {
  return sql.join(texts.map((each) => sql`${each}`));
}

const ofAwakeRun = sql`exists (select 1 from runs where runs.id = interactions.run_id
  and (runs.status = 'running' or runs.ready_at is not null))`;

function hasStatus(status: InteractionStatus, now: number): Statement {
  if (status === 'pending') return sql`status = 'pending' and expires_at >= ${now}`;
  if (status !== 'expired') return sql`status = ${status}`;
  return sql`(status = 'expired' or (status = 'pending' and expires_at < ${now}))`;
}
