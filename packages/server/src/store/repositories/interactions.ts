import {
  type InteractionKind,
  type InteractionStatus,
  interactionKey,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import { fromJsonText, toJsonText } from '../json-text.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { InteractionRepository } from '../../ports/repositories/interactions.ts';

export function interactionRepository(db: Transaction): InteractionRepository {
  return {
    async insert(item) {
      await db.run(sql`
        insert into interactions (
          interaction_key, organization_id, tenant_id, session_id, run_id, kind, status, request_id,
          tool_name, tool_input, question, options, multiple, created_at, expires_at
        ) values (
          ${item.key}, ${item.organizationId}, ${item.tenantId}, ${item.sessionId}, ${item.runId},
          ${item.kind}, ${item.status}, ${item.requestId}, ${item.toolName},
          ${item.kind === 'permission' ? JSON.stringify(item.toolInput) : null},
          ${toJsonText(item.question)},
          ${toJsonText(item.options)},
          ${item.multiple ? 1 : 0}, ${item.createdAt}, ${item.expiresAt}
        )`);
    },

    async find(scope, session, key) {
      const row = await db.get<InteractionRow>(sql`
        select * from interactions where interaction_key = ${key}
          and session_id = ${session} and tenant_id = ${scope.tenantId}`);
      return row && interactionOf(row);
    },

    async findByRequest(run, requestId) {
      const row = await db.get<InteractionRow>(sql`
        select * from interactions where run_id = ${run} and request_id = ${requestId}`);
      return row && interactionOf(row);
    },

    async settle(item) {
      const changed = await db.run(sql`
        update interactions set
          status = ${item.status}, answer = ${toJsonText(item.answer)},
          answered_by = ${item.answeredBy}, answered_at = ${item.answeredAt}
        where interaction_key = ${item.key} and tenant_id = ${item.tenantId} and status = 'pending'`);
      return changed === 1;
    },

    async cancelPending(run) {
      return db.run(sql`
        update interactions set status = 'cancelled' where run_id = ${run} and status = 'pending'`);
    },

    async countPending(run) {
      const row = await db.get<{ n: number }>(sql`
        select count(*) as n from interactions where run_id = ${run} and status = 'pending'`);
      return row?.n ?? 0;
    },

    async unapplied(run) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where run_id = ${run} and status = 'answered' and applied_at is null order by interaction_key`);
      return rows.map(interactionOf);
    },

    async markApplied(run, now) {
      await db.run(sql`
        update interactions set applied_at = ${now}
        where run_id = ${run} and status = 'answered' and applied_at is null`);
    },

    async appliedAt(run, at) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where run_id = ${run} and applied_at = ${at} order by interaction_key`);
      return rows.map(interactionOf);
    },

    async list(scope, { sessionId: session, status, page }) {
      const where = [sql`session_id = ${session}`, sql`tenant_id = ${scope.tenantId}`];
      if (status !== 'all') where.push(sql`status = ${status}`);
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where ${sql.join(where, ' and ')} ${pageOf(page, 'interaction_key')}`);
      return rows.map(interactionOf);
    },

    async overdue(now, limit) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where status = 'pending' and expires_at < ${now}
        order by expires_at limit ${limit}`);
      return rows.map(interactionOf);
    },
  };
}

interface InteractionRow {
  interaction_key: string;
  organization_id: string;
  tenant_id: string;
  session_id: string;
  run_id: string;
  kind: InteractionKind;
  status: InteractionStatus;
  request_id: string;
  tool_name: string | null;
  tool_input: string | null;
  question: string | null;
  options: string | null;
  multiple: number;
  answer: string | null;
  answered_by: string | null;
  created_at: number;
  answered_at: number | null;
  applied_at: number | null;
  expires_at: number | null;
}

function interactionOf(row: InteractionRow): Interaction {
  return {
    key: interactionKey(row.interaction_key),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    runId: runId(row.run_id),
    kind: row.kind,
    status: row.status,
    requestId: row.request_id,
    toolName: row.tool_name,
    toolInput: fromJsonText(row.tool_input),
    question: fromJsonText(row.question),
    options: fromJsonText(row.options),
    multiple: row.multiple === 1,
    answer: fromJsonText(row.answer),
    answeredBy: row.answered_by,
    createdAt: row.created_at,
    answeredAt: row.answered_at,
    appliedAt: row.applied_at,
    expiresAt: row.expires_at,
  };
}
