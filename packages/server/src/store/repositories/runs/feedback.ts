import { type FeedbackAuthorKind, runId } from '@convoke/contract';
import type { Feedback, FeedbackAuthor } from '../../../domain/run/feedback.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type {
  FeedbackPlace,
  FeedbackRepository,
  GivenFeedback,
} from '../../../ports/repositories/runs/feedback.ts';
import { fromJsonText, toJsonText } from '../../json-text.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function feedbackRepository(db: Transaction): FeedbackRepository {
  return {
    async put(scope, given) {
      const written = await db.get<FeedbackRow>(upsertOf(scope, given));
      if (written !== undefined) {
        const isNew = written.created_at === written.updated_at;
        return { feedback: feedbackOf(written), change: isNew ? 'created' : 'replaced' };
      }
      const same = await db.get<FeedbackRow>(sql`
        select ${columns} from feedback where ${at(scope, given)}`);
      return same && { feedback: feedbackOf(same), change: 'none' };
    },

    async remove(scope, place) {
      return (await db.run(sql`delete from feedback where ${at(scope, place)}`)) === 1;
    },

    async list({ tenantId }, { runId: run, author }, limit) {
      const own = author === undefined ? sql`` : sql`and author = ${authorText(author)}`;
      const rows = await db.all<FeedbackRow>(sql`
        select ${columns} from feedback where run_id = ${run} and tenant_id = ${tenantId} ${own}
        order by key, author limit ${limit}`);
      return rows.map(feedbackOf);
    },
  };
}

const columns = sql`run_id, key, author, score, value, comment, created_at, updated_at`;

/**
 * One statement, so that writers of one entry take turns at its row (D-578). It reads the run under the lock that the
 * foreign key takes anyway: a run that is being deleted is none, and a leg can still append to it. A change moves
 * `updated_at`, which tells it from a new row.
 */
function upsertOf({ tenantId }: TenantScope, given: GivenFeedback): Statement {
  const { sessionId, runId: run, key, author, opinion, now, most } = given;
  const named = authorText(author);
  return sql`
    insert into feedback (run_id, key, author, organization_id, tenant_id, session_id, score, value,
      comment, created_at, updated_at)
    select id, cast(${key} as text), cast(${named} as text), organization_id, tenant_id, session_id,
      cast(${opinion.score} as double precision), cast(${toJsonText(opinion.value)} as text),
      cast(${toJsonText(opinion.comment)} as text), cast(${now} as bigint), cast(${now} as bigint)
    from runs
    where id = ${run} and session_id = ${sessionId} and tenant_id = ${tenantId}
      and (exists (select 1 from feedback
          where run_id = ${run} and key = ${key} and author = ${named})
        or (select count(*) from feedback where run_id = ${run}) < ${most})
    ${sql.forKeyShare}
    on conflict (run_id, key, author) do update set
      score = excluded.score, value = excluded.value, comment = excluded.comment,
      updated_at = case when excluded.updated_at > feedback.updated_at then excluded.updated_at
        else feedback.updated_at + 1 end
    where feedback.score is distinct from excluded.score
      or feedback.value is distinct from excluded.value
      or feedback.comment is distinct from excluded.comment
    returning ${columns}`;
}

function at({ tenantId }: TenantScope, { sessionId, runId: run, key, author }: FeedbackPlace) {
  return sql`run_id = ${run} and key = ${key} and author = ${authorText(author)}
    and session_id = ${sessionId} and tenant_id = ${tenantId}`;
}

interface FeedbackRow {
  readonly run_id: string;
  readonly key: string;
  readonly author: string;
  readonly score: number | null;
  readonly value: string | null;
  readonly comment: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

function feedbackOf(row: FeedbackRow): Feedback {
  return {
    runId: runId(row.run_id),
    key: row.key,
    author: authorIn(row.author),
    score: row.score,
    value: fromJsonText<string>(row.value),
    comment: fromJsonText<string>(row.comment),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function authorText({ kind, id }: FeedbackAuthor): string {
  return `${kind}:${id}`;
}

/** No kind has a colon; an id may. */
function authorIn(text: string): FeedbackAuthor {
  const colon = text.indexOf(':');
  return { kind: text.slice(0, colon) as FeedbackAuthorKind, id: text.slice(colon + 1) };
}
