import { answerInteraction, listInteractions } from '../../app/interactions.ts';
import { forgetAllow } from '../../app/rules/forget.ts';
import { allowingIn } from '../../app/rules/shown-allowing.ts';
import { actorsOf } from '../../domain/interaction.ts';
import type { Services } from '../../app/services.ts';
import { actorOf, allowerOf, readerOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { interactionView } from '../views/interactions.ts';

export function interactionRoutes(
  services: Services,
  { cursors, actorNames }: RouteParts,
): Handlers<'list_interactions' | 'answer_interaction' | 'forget_interaction'> {
  return {
    async list_interactions({ caller, params, query }) {
      const sessionId = params.session_id;
      const { status } = query;
      const isRemembered = query.remembered !== undefined;
      const list = `interactions:${sessionId}:${status}${isRemembered ? ':remembered' : ''}`;
      const wanted = { sessionId, status, isRemembered };
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listInteractions(services, caller.scope, { ...wanted, page }),
        idOf: (interaction) => interaction.key,
      });
      const names = await actorNames.of(items.flatMap(actorsOf), caller);
      const allowing = await allowingIn(services, items, readerOf(caller));
      const interactions = items.map((item) =>
        interactionView(item, names, allowing.get(item.key)),
      );
      return { status: 200, body: { interactions, ...next } };
    },

    async forget_interaction({ caller, params, request }) {
      await forgetAllow(services, caller.scope, {
        sessionId: params.session_id,
        key: params.interaction_key,
        by: actorOf(caller, request),
      });
      return { status: 204, body: undefined };
    },

    async answer_interaction({ caller, params, body, request }) {
      const answered = await answerInteraction(services, caller.scope, {
        sessionId: params.session_id,
        key: params.interaction_key,
        body,
        by: actorOf(caller, request),
        allower: allowerOf(caller),
      });
      const names = await actorNames.of(actorsOf(answered), caller);
      const allowing = await allowingIn(services, [answered], readerOf(caller));
      return { status: 200, body: interactionView(answered, names, allowing.get(answered.key)) };
    },
  };
}
