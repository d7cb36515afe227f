import {
  type Decision,
  type InteractionKind,
  type InteractionStatus,
  type RunErrorCode,
  type RunStatus,
  interactionKey,
  limits,
  runId,
  sessionId,
} from '@convoke/contract';
import { inputBeginning, previewOf, toolInputPreview } from '../../../domain/preview.ts';
import {
  type FeedbackFilter,
  type RunListFilter,
  type RunSummary,
  type RunWalk,
  statusesOf,
} from '../../../domain/run/run-summary.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type {
  InteractionInTenant,
  InteractionTopic,
  ListedInteraction,
  RunRange,
  TenantListRepository,
  WantedRuns,
} from '../../../ports/repositories/runs/tenant-lists.ts';
import { fromJsonText } from '../../json-text.ts';
import { readLarge } from '../../page.ts';
import type { Reader, Statement } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { type InteractionRow, interactionOf } from './interaction-rows.ts';
import { labelsIn } from './labels.ts';
import { type UsageColumns, isBelow, usageIn } from './run-columns.ts';

export function tenantListRepository(db: Reader): TenantListRepository {
  return {
    async runs(scope, walk, wanted) {
      const rows = await db.all<SummaryRow>(runsStatement(scope, walk, wanted));
      return rows.map(summaryOf);
    },

    async lastOf(scope, walk, { limit, ...range }) {
      const row = await db.get<{ id: string }>(sql`
        select ${idOf(walk)} as id ${fromWalk(scope, walk)} ${inRange(walk, range)}
        limit 1 offset ${limit - 1}`);
      return row?.id;
    },

    async interactions(scope, which, page) {
      const isPending = which === 'pending' ? sql`and interactions.status = 'pending'` : sql``;
      const rows = await db.all<ListedRow>(sql`
        select ${listedColumns} from interactions join runs on runs.id = interactions.run_id
        where interactions.tenant_id = ${scope.tenantId} ${isPending}
        ${rangeOf(sql`interaction_key`, page)} limit ${page.limit}`);
      return rows.map(listedOf);
    },

    async topics(scope, keys, order) {
      if (keys.length === 0) return { items: [], isCut: false };
      const wanted = sql.join(keys.map((key) => sql`${key}`));
      const { items, isCut } = await readLarge<TopicRow>(db, {
        table: 'interactions',
        key: 'interaction_key',
        columns: topicColumns,
        large: [sql`about`],
        where: sql`tenant_id = ${scope.tenantId} and interaction_key in (${wanted})`,
        page: { limit: keys.length, order },
      });
      return { items: items.map(topicOf), isCut };
    },

    async interaction(scope, key) {
      const row = await db.get<InteractionInTenantRow>(sql`
        select ${interactionColumns} from interactions join runs on runs.id = interactions.run_id
        where interaction_key = ${key} and interactions.tenant_id = ${scope.tenantId}`);
      return row && inTenant(row);
    },

    async agentsOf(scope, runs) {
      if (runs.length === 0) return new Map();
      const rows = await db.all<Pick<SummaryRow, 'id' | 'agent_name'>>(sql`
        select id, agent_name from runs where tenant_id = ${scope.tenantId}
          and id in (${sql.join(runs.map((each) => sql`${each}`))})`);
      return new Map(rows.map((row) => [runId(row.id), row.agent_name]));
    },

    async overview({ tenantId: tenant }, { most, now }) {
      const counted = async (status: RunStatus) => {
        const row = await db.get<{ n: number }>(sql`
          select count(*) as n from (select id from runs where tenant_id = ${tenant}
            and status = ${status} and ended_at is null limit ${most}) as counted`);
        return row?.n ?? 0;
      };
      const pending = await db.get<{ n: number; oldest: number | null }>(sql`
        select count(*) as n, min(created_at) as oldest from (
          select created_at from interactions where tenant_id = ${tenant} and status = 'pending'
            and expires_at >= ${now} order by interaction_key limit ${most}) as counted`);
      const queued = await db.get<{ created_at: number }>(sql`
        select created_at from runs where tenant_id = ${tenant} and status = 'queued'
          and ended_at is null order by id limit 1`);
      return {
        queued: await counted('queued'),
        running: await counted('running'),
        waiting: await counted('waiting'),
        cancelling: await counted('cancelling'),
        pendingInteractions: pending?.n ?? 0,
        oldestPendingAt: pending?.oldest ?? null,
        oldestQueuedAt: queued?.created_at ?? null,
      };
    },
  };
}

const summaryColumns = sql`runs.id, runs.session_id, runs.agent_name, runs.status, runs.preview,
  runs.labels, runs.created_by, runs.error_code, runs.pending_interactions, runs.input_tokens,
  runs.output_tokens, runs.cost_micros, runs.cost_currency, runs.created_at, runs.started_at,
  runs.ended_at, runs.agent_digest, runs.open_waits, runs.ancestors,
  runs.leg_started_at`;

const interactionColumns = sql`interactions.*, runs.agent_name, runs.labels, runs.preview,
  runs.created_by, runs.ancestors`;

const listedColumns = sql`interactions.interaction_key, interactions.kind, interactions.status,
  interactions.session_id, interactions.run_id, interactions.created_at, interactions.answered_at,
  interactions.expires_at, interactions.asked, interactions.approvals, runs.agent_name, runs.labels,
  runs.preview, runs.created_by, runs.ancestors`;

/** As much of a question's JSON text as a preview can need: it looks at two code units for each of its characters. */
const questionCharacters = 2 + 2 * limits.previewCharacters * '\\u0000'.length;
/** As much of an answer's JSON text as its decision can need: it begins with the kind and the decision. */
const decisionCharacters = 64;
const topicColumns = sql`interactions.interaction_key, interactions.tool_name, interactions.about,
  substr(interactions.question, 1, ${questionCharacters}) as question,
  substr(interactions.tool_input, 1, ${inputBeginning}) as tool_input,
  substr(interactions.answer, 1, ${decisionCharacters}) as answer, interactions.answered_by`;

function runsStatement(scope: TenantScope, walk: RunWalk, wanted: WantedRuns): Statement {
  const { filter, upTo, order, limit } = wanted;
  const end = upTo === undefined ? [] : [endAt(idOf(walk), order, upTo)];
  const { feedback } = filter;
  const conditions = [
    ...end,
    ...conditionsOf(filter),
    ...otherLabels(scope, walk, filter),
    ...(feedback === undefined ? [] : [hasFeedback(scope, walk, feedback)]),
  ].map((condition) => sql`and ${condition}`);
  const joined = walk.kind === 'label' ? sql`join runs on runs.id = labels.owner_id` : sql``;
  return sql`
    select ${summaryColumns} ${fromWalk(scope, walk, joined)}
    ${conditions.length === 0 ? sql`` : sql.join(conditions, ' ')}
    ${inRange(walk, wanted)} limit ${limit}`;
}

function idOf({ kind }: RunWalk): Statement {
  return kind === 'label' ? sql`labels.owner_id` : sql`runs.id`;
}

/** The rows of the index that the walk visits. */
function fromWalk({ tenantId }: TenantScope, walk: RunWalk, joined: Statement = sql``): Statement {
  switch (walk.kind) {
    case 'label':
      return sql`from labels ${joined} where labels.tenant_id = ${tenantId}
        and labels.key = ${walk.key} and labels.value = ${walk.value}`;
    case 'all':
      return sql`from runs where runs.tenant_id = ${tenantId}`;
    case 'below':
      return sql`from runs where runs.tenant_id = ${tenantId} and ${isBelow(walk.path)}`;
    case 'failed':
      return sql`from runs where runs.tenant_id = ${tenantId} and status = 'failed'`;
    case 'open':
      return sql`from runs where runs.tenant_id = ${tenantId} and status = ${walk.status}
        and ended_at is null`;
    default:
      return walk satisfies never;
  }
}

/** Conditions that every run of the filter fulfils. */
function conditionsOf(filter: RunListFilter): Statement[] {
  const { statuses, agentName, agentDigest, errorCode, createdAfter, createdBefore, text } = filter;
  const conditions: Statement[] = [];
  if (statuses !== undefined) {
    const given = statusesOf(statuses).map((status) => sql`${status}`);
    conditions.push(sql`runs.status in (${sql.join(given)})`);
  }
  if (agentName !== undefined) conditions.push(sql`runs.agent_name = ${agentName}`);
  if (agentDigest !== undefined) {
    // Digits of 0-9 and a-f: `g` sorts after all of them.
    conditions.push(
      sql`runs.agent_digest >= ${agentDigest} and runs.agent_digest < ${`${agentDigest}g`}`,
    );
  }
  if (errorCode !== undefined) conditions.push(sql`runs.error_code = ${errorCode}`);
  if (createdAfter !== undefined) conditions.push(sql`runs.created_at >= ${createdAfter}`);
  if (createdBefore !== undefined) conditions.push(sql`runs.created_at < ${createdBefore}`);
  if (text !== undefined) {
    conditions.push(sql`lower(runs.preview) like ${patternOf(text)} escape '!'`);
  }
  return conditions;
}

/** The labels that the walk does not visit. The tenant makes them a lookup in the index `labels_find`. */
function otherLabels({ tenantId }: TenantScope, walk: RunWalk, filter: RunListFilter): Statement[] {
  const first = walk.kind === 'label' ? 1 : 0;
  return (filter.labels?.slice(first) ?? []).map(
    ({ key, value }) => sql`exists (select 1 from labels as other
      where other.tenant_id = ${tenantId} and other.key = ${key} and other.value = ${value}
        and other.owner_id = ${idOf(walk)})`,
  );
}

/** A lookup in the primary key of the feedback, for each run that the walk visits. */
function hasFeedback(
  { tenantId }: TenantScope,
  walk: RunWalk,
  { key, scoreMin, scoreMax }: FeedbackFilter,
): Statement {
  const least = scoreMin === undefined ? sql`` : sql`and feedback.score >= ${scoreMin}`;
  const most = scoreMax === undefined ? sql`` : sql`and feedback.score <= ${scoreMax}`;
  return sql`exists (select 1 from feedback where feedback.run_id = ${idOf(walk)}
    and feedback.key = ${key} and feedback.tenant_id = ${tenantId} ${least} ${most})`;
}

/**
 * Finds at least what the text is part of. Both databases know upper and lower case of ASCII only: any other letter
 * that has both stands for every character.
 */
function patternOf(text: string): string {
  const characters = Array.from(text.toLowerCase(), (character) => {
    const hasCase = character.toUpperCase() !== character;
    if (hasCase && character > '\u007f') return '_';
    return /[!%_]/.test(character) ? `!${character}` : character;
  });
  return `%${characters.join('')}%`;
}

/** Labels belong to sessions too; the ids of runs are a range. */
function inRange(walk: RunWalk, range: Omit<RunRange, 'limit'>): Statement {
  if (walk.kind !== 'label') return rangeOf(idOf(walk), range);
  const { from = 'run_', until = 'run`' } = range;
  return rangeOf(idOf(walk), { ...range, from, until });
}

function rangeOf(id: Statement, { from, until, after, order }: Omit<RunRange, 'limit'>): Statement {
  const parts: Statement[] = [];
  if (from !== undefined) parts.push(sql`and ${id} >= ${from}`);
  if (until !== undefined) parts.push(sql`and ${id} < ${until}`);
  if (after !== undefined) {
    parts.push(order === 'asc' ? sql`and ${id} > ${after}` : sql`and ${id} < ${after}`);
  }
  parts.push(order === 'asc' ? sql`order by ${id}` : sql`order by ${id} desc`);
  return sql.join(parts, ' ');
}

function endAt(id: Statement, order: RunRange['order'], last: string): Statement {
  return order === 'asc' ? sql`${id} <= ${last}` : sql`${id} >= ${last}`;
}

interface SummaryRow extends UsageColumns {
  id: string;
  session_id: string;
  agent_name: string;
  status: RunStatus;
  preview: string | null;
  labels: string | null;
  created_by: string | null;
  error_code: RunErrorCode | null;
  pending_interactions: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  agent_digest: string | null;
  open_waits: number;
  leg_started_at: number | null;
  ancestors: string | null;
}

function summaryOf(row: SummaryRow): RunSummary {
  return {
    id: runId(row.id),
    sessionId: sessionId(row.session_id),
    agentName: row.agent_name,
    agentDigest: row.agent_digest,
    status: row.status,
    preview: row.preview ?? '',
    labels: labelsIn(row),
    createdBy: row.created_by,
    errorCode: row.error_code,
    pendingInteractions: row.pending_interactions,
    openWaits: row.open_waits,
    isExecuting: row.leg_started_at !== null,
    ancestors: row.ancestors,
    usage: usageIn(row),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

type RunColumns = Pick<
  SummaryRow,
  'agent_name' | 'labels' | 'preview' | 'created_by' | 'ancestors'
>;

type InteractionInTenantRow = InteractionRow & RunColumns;

function inTenant(row: InteractionInTenantRow): InteractionInTenant {
  return { interaction: interactionOf(row), run: runIn(row) };
}

function runIn(row: RunColumns): InteractionInTenant['run'] {
  return {
    agentName: row.agent_name,
    labels: labelsIn(row),
    preview: row.preview ?? '',
    createdBy: row.created_by,
    ancestors: row.ancestors,
  };
}

interface ListedRow extends RunColumns {
  readonly interaction_key: string;
  readonly kind: InteractionKind;
  readonly status: InteractionStatus;
  readonly session_id: string;
  readonly run_id: string;
  readonly created_at: number;
  readonly answered_at: number | null;
  readonly expires_at: number | null;
  readonly asked: string | null;
  readonly approvals: string | null;
}

function listedOf(row: ListedRow): ListedInteraction {
  return {
    key: interactionKey(row.interaction_key),
    kind: row.kind,
    status: row.status,
    sessionId: sessionId(row.session_id),
    runId: runId(row.run_id),
    createdAt: row.created_at,
    answeredAt: row.answered_at,
    expiresAt: row.expires_at ?? 0,
    asked: fromJsonText(row.asked) ?? [],
    approvals: fromJsonText(row.approvals) ?? [],
    run: runIn(row),
  };
}

interface TopicRow {
  readonly interaction_key: string;
  readonly tool_name: string | null;
  readonly question: string | null;
  readonly about: string | null;
  readonly tool_input: string | null;
  readonly answer: string | null;
  readonly answered_by: string | null;
}

function topicOf(row: TopicRow): InteractionTopic {
  return {
    key: interactionKey(row.interaction_key),
    toolName: row.tool_name,
    toolInputPreview: row.tool_input === null ? null : (toolInputPreview(row.tool_input) ?? null),
    question: row.question === null ? null : previewOf(beginningOf(row.question)),
    about: fromJsonText(row.about),
    decision: row.answer === null ? null : decisionIn(row.answer),
    answeredBy: row.answered_by,
  };
}

function decisionIn(answer: string): Decision | null {
  const found = /^\{"kind":"permission","decision":"(allow|deny)"/.exec(answer)?.[1];
  return found === undefined ? null : (found as Decision);
}

/** Decodes JSON text that may have been cut anywhere: inside an escape, or before its closing quote. */
function beginningOf(text: string): string {
  if (text.length < questionCharacters) return JSON.parse(text) as string;
  // The last character may be the closing quote.
  const open = text.slice(0, -1);
  const cutEscape = /(?<!\\)(?:\\\\)*(\\(?:u[0-9a-f]{0,3})?)$/i.exec(open)?.[1] ?? '';
  return JSON.parse(`${open.slice(0, open.length - cutEscape.length)}"`) as string;
}
