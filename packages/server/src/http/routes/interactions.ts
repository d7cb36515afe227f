import { answerInteraction, listInteractions } from '../../app/interactions.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { interactionView } from '../views/interactions.ts';

export function interactionRoutes(
  services: Services,
  cursors: Cursors,
): Handlers<'list_interactions' | 'answer_interaction'> {
  return {
    async list_interactions({ caller, params, query }) {
      const sessionId = params.session_id;
      const { status } = query;
      const { items, next } = await cursors.page(`interactions:${sessionId}:${status}`, query, {
        read: (page) => listInteractions(services, caller.scope, { sessionId, status, page }),
        idOf: (interaction) => interaction.key,
      });
      return { status: 200, body: { interactions: items.map(interactionView), ...next } };
    },

    async answer_interaction({ caller, params, body, request }) {
      const answered = await answerInteraction(services, caller.scope, {
        sessionId: params.session_id,
        key: params.interaction_key,
        body,
        by: actorOf(caller, request),
      });
      return { status: 200, body: interactionView(answered) };
    },
  };
}
