import { deleteFeedback, listFeedback, putFeedback } from '../../../app/runs/feedback.ts';
import { orRefuse } from '../../../app/refusal.ts';
import type { Services } from '../../../app/services.ts';
import { callerAsAuthor, feedbackAuthor } from '../../../domain/run/feedback.ts';
import type { Handlers } from '../../handler.ts';
import { feedbackView } from '../../views/feedback.ts';
import type { RouteParts } from '../route-parts.ts';

type FeedbackOperations = 'put_feedback' | 'list_feedback' | 'delete_feedback';

export function feedbackRoutes(
  services: Pick<Services, 'store' | 'clock' | 'fanout'>,
  { actorNames }: Pick<RouteParts, 'actorNames'>,
): Handlers<FeedbackOperations> {
  return {
    async put_feedback({ caller, params, body }) {
      const author = orRefuse(feedbackAuthor(caller, body.end_user));
      const { feedback, change } = await putFeedback(services, caller.scope, {
        sessionId: params.session_id,
        runId: params.run_id,
        key: params.key,
        author,
        opinion: {
          score: body.score ?? null,
          value: body.value ?? null,
          comment: body.comment ?? null,
        },
      });
      const names = await actorNames.of([author.id], caller);
      return { status: change === 'created' ? 201 : 200, body: feedbackView(feedback, names) };
    },

    async list_feedback({ caller, params }) {
      const feedback = await listFeedback(services, caller.scope, {
        sessionId: params.session_id,
        runId: params.run_id,
        // D-775: words of a team about a run are not for the page of its user.
        author: caller.session === undefined ? undefined : callerAsAuthor(caller),
      });
      const names = await actorNames.of(
        feedback.map(({ author }) => author.id),
        caller,
      );
      return { status: 200, body: { feedback: feedback.map((one) => feedbackView(one, names)) } };
    },

    async delete_feedback({ caller, params, query }) {
      await deleteFeedback(services, caller.scope, {
        sessionId: params.session_id,
        runId: params.run_id,
        key: params.key,
        author: orRefuse(feedbackAuthor(caller, query.end_user)),
      });
      return { status: 204, body: undefined };
    },
  };
}
