import { type RunId, type SessionId, limits } from '@convoke/contract';
import type { Feedback, FeedbackAuthor, Opinion } from '../../domain/run/feedback.ts';
import { feedbackNotice } from '../../domain/notice.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { FeedbackPlace, StoredFeedback } from '../../ports/repositories/runs/feedback.ts';
import { announce } from '../feed/notices.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

type FeedbackServices = Pick<Services, 'store' | 'clock' | 'fanout'>;

/**
 * Stores what an author says about a run, with a notice if that changed something (D-578, D-579). The run is only read:
 * it may have any status, and its log gets nothing.
 */
export async function putFeedback(
  { store, clock, fanout }: FeedbackServices,
  scope: TenantScope,
  { opinion, ...place }: FeedbackPlace & { readonly opinion: Opinion },
): Promise<StoredFeedback> {
  const { sessionId, runId, key, author } = place;
  return store.transaction(async (tx) => {
    const now = clock.now();
    const run = (await tx.runs.find(scope, sessionId, runId)) ?? refuse('not_found');
    const given = { ...place, opinion, now, most: limits.feedbackPerRun };
    const stored = await tx.feedback.put(scope, given);
    if (stored === undefined) {
      const isThere = (await tx.runs.find(scope, sessionId, runId)) !== undefined;
      return refuse(isThere ? 'feedback_limit_reached' : 'not_found');
    }
    if (stored.change !== 'none') {
      const notice = feedbackNotice(run, { key, author, score: opinion.score, at: now });
      announce({ fanout }, tx, { tenantId: scope.tenantId, notices: [notice] });
    }
    return stored;
  });
}

export async function deleteFeedback(
  { store, clock, fanout }: FeedbackServices,
  scope: TenantScope,
  place: FeedbackPlace,
): Promise<void> {
  const { sessionId, runId, key, author } = place;
  await store.transaction(async (tx) => {
    const run = (await tx.runs.find(scope, sessionId, runId)) ?? refuse('not_found');
    if (!(await tx.feedback.remove(scope, place))) refuse('not_found');
    const notice = feedbackNotice(run, { key, author, at: clock.now(), isDeleted: true });
    announce({ fanout }, tx, { tenantId: scope.tenantId, notices: [notice] });
  });
}

export interface ListFeedback {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** Only what this author says. */
  readonly author: FeedbackAuthor | undefined;
}

export async function listFeedback(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { sessionId, runId, author }: ListFeedback,
): Promise<Feedback[]> {
  if ((await store.read.runs.find(scope, sessionId, runId)) === undefined) refuse('not_found');
  return store.read.feedback.list(scope, { runId, author }, limits.feedbackShownMax);
}
