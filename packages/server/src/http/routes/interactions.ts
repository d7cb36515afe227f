import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { interactionView } from '../views/interactions.ts';
import { answerInteraction, listInteractions } from '../../app/interactions.ts';
import type { Services } from '../../app/services.ts';

export function interactionRoutes(
  services: Services,
  cursors: Cursors,
): Handlers<'list_interactions' | 'answer_interaction'> {
  return {
    async list_interactions({ caller, params, query }) {
      const place = `interactions:${params.session_id}:${query.status}`;
      const page = cursors.read(place, query);
      const request = { sessionId: params.session_id, status: query.status, page };
      const items = await listInteractions(services, caller.scope, request);
      const cut = cursors.cut(place, page, { items, idOf: (interaction) => interaction.key });
      return { status: 200, body: { interactions: cut.items.map(interactionView), ...cut.next } };
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
