import {
  type InteractionKind,
  type InteractionStatus,
  interactionKey,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import type {
  AnsweredInteraction,
  Interaction,
  InteractionAnswer,
  InteractionRequest,
  PendingInteraction,
} from '../../domain/interaction.ts';
import type { InteractionRepository } from '../../ports/repositories/interactions.ts';
import { fromJsonText, toJsonText } from '../json-text.ts';
import { readLarge } from '../page.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function interactionRepository(db: Transaction): InteractionRepository {
  return {
    async insert(item) {
      const permission = item.kind === 'permission' ? item : undefined;
      const question = item.kind === 'question' ? item : undefined;
      await db.run(sql`
        insert into interactions (
          interaction_key, organization_id, tenant_id, session_id, run_id, kind, status, request_id,
          tool_name, tool_input, question, options, multiple, about, created_at, expires_at
        ) values (
          ${item.key}, ${item.organizationId}, ${item.tenantId}, ${item.sessionId}, ${item.runId},
          ${item.kind}, ${item.status}, ${item.requestId},
          ${permission?.toolName ?? null},
          ${permission === undefined ? null : JSON.stringify(permission.toolInput)},
          ${toJsonText(question?.question)}, ${toJsonText(question?.options)},
          ${question?.multiple === true ? 1 : 0}, ${toJsonText(question?.about)}, ${item.createdAt}, ${item.expiresAt}
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
      const answered = item.status === 'answered' ? item : undefined;
      const changed = await db.run(sql`
        update interactions set
          status = ${item.status}, answer = ${toJsonText(answered?.answer)},
          answered_by = ${answered?.answeredBy ?? null},
          answered_at = ${answered?.answeredAt ?? null}
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
      return rows.map(answeredOf);
    },

    async answered(run) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions
        where run_id = ${run} and status = 'answered' order by interaction_key`);
      return rows.map(answeredOf);
    },

    async markApplied(run, now) {
      await db.run(sql`
        update interactions set applied_at = ${now}
        where run_id = ${run} and status = 'answered' and applied_at is null`);
    },

    async list(scope, { sessionId: session, status, now, page }) {
      const where = [sql`session_id = ${session}`, sql`tenant_id = ${scope.tenantId}`];
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

    async overdue(now, limit) {
      const rows = await db.all<InteractionRow>(sql`
        select * from interactions where status = 'pending' and expires_at < ${now}
        order by expires_at limit ${limit}`);
      return rows.map(pendingOf);
    },
  };
}

function hasStatus(status: InteractionStatus, now: number): Statement {
  if (status === 'pending') return sql`status = 'pending' and expires_at >= ${now}`;
  if (status !== 'expired') return sql`status = ${status}`;
  return sql`(status = 'expired' or (status = 'pending' and expires_at < ${now}))`;
}

export interface InteractionRow {
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
  about: string | null;
  answer: string | null;
  answered_by: string | null;
  created_at: number;
  answered_at: number | null;
  applied_at: number | null;
  expires_at: number | null;
}

export function interactionOf(row: InteractionRow): Interaction {
  switch (row.status) {
    case 'pending':
      return pendingOf(row);
    case 'answered':
      return answeredOf(row);
    case 'expired':
    case 'cancelled':
      return { ...identityOf(row), ...requestOf(row), status: row.status };
    default:
      return row.status satisfies never;
  }
}

function pendingOf(row: InteractionRow): PendingInteraction {
  return { ...identityOf(row), ...requestOf(row), status: 'pending' };
}

function answeredOf(row: InteractionRow): AnsweredInteraction {
  const identity = identityOf(row);
  const request = requestOf(row);
  const answer = fromJsonText<InteractionAnswer>(row.answer) ?? broken(row);
  const answered = {
    status: 'answered',
    answeredBy: row.answered_by ?? broken(row),
    answeredAt: row.answered_at ?? broken(row),
    appliedAt: row.applied_at,
  } as const;
  if (request.kind === 'permission' && answer.kind === 'permission') {
    return { ...identity, ...request, ...answered, answer };
  }
  if (request.kind === 'question' && answer.kind === 'question') {
    return { ...identity, ...request, ...answered, answer };
  }
  return broken(row);
}

function identityOf(row: InteractionRow) {
  return {
    key: interactionKey(row.interaction_key),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    runId: runId(row.run_id),
    requestId: row.request_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? broken(row),
  };
}

function requestOf(row: InteractionRow): InteractionRequest {
  if (row.kind === 'permission') {
    const toolName = row.tool_name ?? broken(row);
    return { kind: 'permission', toolName, toolInput: fromJsonText(row.tool_input) };
  }
  return {
    kind: 'question',
    question: fromJsonText<string>(row.question) ?? broken(row),
    options: fromJsonText(row.options),
    multiple: row.multiple === 1,
    about: fromJsonText(row.about),
  };
}

function broken(row: InteractionRow): never {
  throw new Error(
    `the row of interaction ${row.interaction_key} fits no ${row.status} ${row.kind}`,
  );
}
