import { answerInteraction, listInteractions } from '../../app/interactions.ts';
import { answererOf } from '../../domain/interaction.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { interactionView } from '../views/interactions.ts';

export function interactionRoutes(
  services: Services,
  { cursors, actorNames }: RouteParts,
): Handlers<'list_interactions' | 'answer_interaction'> {
  return {
    async list_interactions({ caller, params, query }) {
      const sessionId = params.session_id;
      const { status } = query;
      const { items, next } = await cursors.page(`interactions:${sessionId}:${status}`, query, {
        read: (page) => listInteractions(services, caller.scope, { sessionId, status, page }),
        idOf: (interaction) => interaction.key,
      });
      const names = await actorNames.of(items.map(answererOf), caller);
      const interactions = items.map((item) => interactionView(item, names));
      return { status: 200, body: { interactions, ...next } };
    },

    async answer_interaction({ caller, params, body, request }) {
      const answered = await answerInteraction(services, caller.scope, {
        sessionId: params.session_id,
        key: params.interaction_key,
        body,
        by: actorOf(caller, request),
      });
      const names = await actorNames.of([answererOf(answered)], caller);
      return { status: 200, body: interactionView(answered, names) };
    },
  };
}
