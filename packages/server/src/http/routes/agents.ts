import { getAgent, listAgents } from '../../app/agents.ts';
import { logOf } from '../../app/runs/run-log.ts';
import { invokeAgent } from '../../app/runs/start-run.ts';
import { orRefuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import { endUserOfSession } from '../../domain/connections/declared.ts';
import { clientOf } from '../actor.ts';
import { ceilingIn } from '../ceiling.ts';
import type { Handlers } from '../handler.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { chooseMedia } from '../media.ts';
import { agentDetailsView, agentView } from '../views/agents.ts';
import type { RunRouteParts } from './runs.ts';

export function agentRoutes(
  services: Services,
  { cursors, followers, streams }: RunRouteParts,
): Handlers<'list_agents' | 'get_agent' | 'invoke_agent'> {
  return {
    async list_agents({ caller, query }) {
      const includesBroken = query.include === 'broken';
      const list = `agents:${caller.scope.tenantId}${includesBroken ? ':broken' : ''}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listAgents(services, caller.scope, { page, includesBroken }),
        idOf: (agent) => agent.name,
      });
      const agents = items.map((agent) => agentView(agent, services.settings.fileAttachments));
      return { status: 200, body: { agents, ...next } };
    },

    async get_agent({ caller, params }) {
      const agent = getAgent(services, caller.scope, params.agent_name);
      return { status: 200, body: agentDetailsView(agent, services.settings.fileAttachments) };
    },

    async invoke_agent({ caller, params, query, headers: sent, body, request, chargeRate }) {
      chooseMedia(request.raw.headers.accept, ['text/event-stream']);
      const started = await invokeAgent(services, caller.scope, {
        agentName: params.agent_name,
        input: body.input,
        clientId: clientOf(caller),
        createdBy: caller.actor.id,
        endUser: orRefuse(endUserOfSession(caller, body.end_user)),
        labels: body.labels,
        ceiling: ceilingIn(body.budget),
        idempotencyKey: idempotencyKeyOf(sent, body),
        chargeRate,
      });
      const { id, sessionId } = started.resource;
      const headers = {
        ...(started.replayed ? replayed : {}),
        location: `/v1/sessions/${sessionId}/runs/${id}/events`,
        'x-session-id': sessionId,
        'x-run-id': id,
      };
      const run = logOf(started.resource);
      const follower = followers[query.event_names];
      return {
        write: (response, base) =>
          streams.send(response, {
            caller,
            headers: { ...base, ...headers },
            follow: (reader) => follower.follow({ run, after: 0, ...reader }),
          }),
      };
    },
  };
}
