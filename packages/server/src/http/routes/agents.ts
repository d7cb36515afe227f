import { listAgents } from '../../app/agents.ts';
import { invokeAgent } from '../../app/runs.ts';
import type { Services } from '../../app/services.ts';
import type { Handlers } from '../handler.ts';
import { replayed } from '../replayed.ts';
import { agentView } from '../views/agents.ts';
import type { RunRouteParts } from './runs.ts';

export function agentRoutes(
  services: Services,
  { cursors, follower, streams }: RunRouteParts,
): Handlers<'list_agents' | 'invoke_agent'> {
  return {
    async list_agents({ caller, query }) {
      const { items, next } = await cursors.page(`agents:${caller.scope.tenantId}`, query, {
        read: (page) => listAgents(services, caller.scope, page),
        idOf: (agent) => agent.name,
      });
      const agents = items.map((agent) => agentView(agent, services.settings.fileAttachments));
      return { status: 200, body: { agents, ...next } };
    },

    async invoke_agent({ caller, params, query, body, chargeRate }) {
      const started = await invokeAgent(services, caller.scope, {
        agentName: params.agent_name,
        input: body.input,
        idempotencyKey: body.idempotency_key,
        chargeRate,
      });
      const run = started.resource;
      return {
        write: (response, base) =>
          streams.send(response, {
            caller,
            headers: {
              ...base,
              ...(started.replayed ? replayed : {}),
              location: `/v1/sessions/${run.sessionId}/runs/${run.id}/events`,
              'x-session-id': run.sessionId,
              'x-run-id': run.id,
            },
            names: query.event_names,
            batches: (signal) => follower.follow({ run, after: 0, signal }),
          }),
      };
    },
  };
}
