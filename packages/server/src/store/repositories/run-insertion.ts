import { type Run, leaseOf, readyAtOf } from '../../domain/run/run.ts';
import type { NewRunGuard } from '../../ports/repositories/budgets.ts';
import type { SqlValue, Statement } from '../sql-database.ts';
import { sql } from '../sql.ts';
import { exhaustedBudget } from './budgets.ts';
import { labelsText } from './labels.ts';

/** The columns of a new run, in the order of `valuesOf`; the others have their defaults. */
const columns = sql`
  id, organization_id, tenant_id, session_id, agent_name, client_id, created_by, preview, labels,
  status, input, lease_owner, last_machine,
  number, pending_interactions, last_seq, last_event_at, ready_at, lease_epoch, lease_expires_at,
  created_at, started_at, leg_started_at, max_tokens, max_cost_micros`;
const texts = 13;
const numbers = 12;

const inserted = sql`
  insert into runs (${columns}) values (${repeated(sql`${''}`, texts + numbers)})`.strings;
/** The casts are for PostgreSQL, which takes no types from the columns for values that are selected. */
const typed = sql`
  ${repeated(sql`cast(${''} as text)`, texts)}, ${repeated(sql`cast(${0} as bigint)`, numbers)}`;
const selected = sql`insert into runs (${columns}) select ${typed}`.strings;

/** Without a select: SQLite takes a third longer for one. */
export function insertion(run: Run): Statement {
  return { strings: inserted, values: valuesOf(run) };
}

/** Inserts nothing if a budget is exhausted. */
export function guardedInsertion(
  run: Run,
  guard: Pick<NewRunGuard, 'now' | 'isUnpriced'>,
): Statement {
  const selection = { strings: selected, values: valuesOf(run) };
  return sql`
    ${selection}
    where not exists (select 1 from budgets where ${exhaustedBudget({ run, ...guard })})`;
}

function valuesOf(run: Run): SqlValue[] {
  const lease = leaseOf(run);
  return [
    run.id,
    run.organizationId,
    run.tenantId,
    run.sessionId,
    run.agentName,
    run.clientId,
    run.createdBy,
    run.preview,
    labelsText(run.labels),
    run.status,
    run.input,
    lease?.owner ?? null,
    run.lastMachine,
    run.number,
    run.pendingInteractions,
    run.lastSeq,
    run.lastEventAt,
    readyAtOf(run),
    run.leaseEpoch,
    lease?.expiresAt ?? null,
    run.createdAt,
    'startedAt' in run ? run.startedAt : null,
    run.legStartedAt,
    run.ceiling.maxTokens,
    run.ceiling.maxCostMicros,
  ];
}

function repeated(statement: Statement, times: number): Statement {
  return sql.join(Array.from({ length: times }, () => statement));
}
