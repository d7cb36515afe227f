import { type JudgedRules, getRules, setRules } from '../../app/rules/rules.ts';
import type { PeopleKnown } from '../../app/rules/ruled-world.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import { rulesView } from '../views/rules.ts';
import type { RouteParts } from './route-parts.ts';

type RuleOperations = 'get_rules' | 'set_rules';

export function ruleRoutes(
  services: Pick<Services, 'store' | 'clock' | 'agents'> & PeopleKnown,
  { actorNames }: Pick<RouteParts, 'actorNames'>,
): Handlers<RuleOperations> {
  const view = async (judged: JudgedRules) =>
    rulesView(judged, await actorNames.of([judged.document?.updatedBy]));
  return {
    async get_rules({ caller }) {
      return { status: 200, body: await view(await getRules(services, caller.organizationId)) };
    },

    async set_rules({ caller, body, request }) {
      const judged = await setRules(services, caller.organizationId, {
        ...body,
        manager: caller,
        by: actorOf(caller, request),
      });
      return { status: 200, body: await view(judged) };
    },
  };
}
