import { type TenantId, nearestName } from '@convoke/contract';
import { type Agent, isEnabledFor } from '../domain/agent.ts';
import type { Agents } from '../ports/agents.ts';
import { refuse } from './refusal.ts';

/** Names that a mistyped one is compared with. */
const comparedMax = 200;

/** Returns an agent that the tenant may invoke, or refuses with the one that was probably meant. */
export function enabledAgent(agents: Agents, tenantId: TenantId, name: string): Agent {
  const agent = agents.find(name);
  return agent !== undefined && isEnabledFor(agent, tenantId)
    ? agent
    : refuseUnknownAgent(agents, tenantId, name);
}

/** Only an agent that the tenant could list is suggested. */
export function refuseUnknownAgent(agents: Agents, tenantId: TenantId, name: string): never {
  const enabled = agents.all().filter((agent) => isEnabledFor(agent, tenantId));
  const meant = nearestName(
    name,
    enabled.slice(0, comparedMax).map((agent) => agent.name),
  );
  if (meant === undefined) return refuse('agent_not_found');
  const message = `The agent does not exist or is not enabled for this tenant; did you mean "${meant}"?`;
  return refuse('agent_not_found', { message });
}
