import { tenantId } from '@convoke/contract';
import { type JudgedRules, getRules, setRules } from '../../app/rules/rules.ts';
import { digest } from '../../app/audit.ts';
import { tryRules } from '../../app/rules/try-rules.ts';
import type { PeopleKnown } from '../../app/rules/ruled-world.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import { rulesView, trialView } from '../views/rules.ts';
import type { RouteParts } from './route-parts.ts';

type RuleOperations = 'get_rules' | 'set_rules' | 'try_rules';

export function ruleRoutes(
  services: Pick<Services, 'store' | 'clock' | 'agents' | 'metrics'> & PeopleKnown,
  { cursors, actorNames }: RouteParts,
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

    async try_rules({ caller: { organizationId }, body }) {
      const { cursor, ...draft } = body;
      const { rules, since, tenant_id } = draft;
      // A cursor is for the draft that it was made with.
      const list = `trial:${organizationId}:${digest(JSON.stringify(draft))}`;
      const query = { limit: 1, order: 'desc', cursor } as const;
      const { items, next } = await cursors.page(list, query, {
        read: async ({ after }) => {
          const trial = await tryRules(services, organizationId, {
            rules,
            since: since === undefined ? undefined : Date.parse(since),
            tenantId: tenant_id === undefined ? undefined : tenantId(tenant_id),
            after,
          });
          return { items: [trial], isCut: trial.end !== undefined, lookedTo: trial.end };
        },
        idOf: ({ end = '' }) => end,
      });
      const [trial] = items;
      if (trial === undefined) throw new Error('a trial has one page for each cursor');
      return { status: 200, body: { ...trialView(trial), ...next } };
    },
  };
}
