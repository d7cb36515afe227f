import { type Agent, type BrokenAgent, isEnabledFor } from '../domain/agent.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { PageRequest } from '../ports/page.ts';
import { refuseUnknownAgent } from './enabled-agent.ts';
import type { Services } from './services.ts';

/** An agent of the tenant, or a folder that would be one if it could be read. */
export type ListedAgent = Agent | (BrokenAgent & { readonly name: string });

export function isBroken(agent: ListedAgent): agent is BrokenAgent & { readonly name: string } {
  return 'reason' in agent;
}

/** Lists the agents enabled for the tenant, by name. They are in memory, so a page is a slice. */
export function listAgents(
  { agents }: Pick<Services, 'agents'>,
  scope: TenantScope,
  { page, includesBroken }: { readonly page: PageRequest; readonly includesBroken: boolean },
): ListedAgent[] {
  const { limit, order, after } = page;
  const enabled = agents.all().filter((agent) => isEnabledFor(agent, scope.tenantId));
  const listed = [...enabled, ...(includesBroken ? brokenAgents(agents, scope) : [])];
  const sorted = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (order === 'desc') sorted.reverse();
  const isAfter = (name: string) =>
    after === undefined || (order === 'asc' ? name > after : name < after);
  return sorted.filter((agent) => isAfter(agent.name)).slice(0, limit);
}

export function getAgent(
  { agents }: Pick<Services, 'agents'>,
  scope: TenantScope,
  name: string,
): ListedAgent {
  const agent = agents.find(name);
  if (agent !== undefined && isEnabledFor(agent, scope.tenantId)) return agent;
  const broken = brokenAgents(agents, scope).find((problem) => problem.name === name);
  return broken ?? refuseUnknownAgent(agents, scope.tenantId, name);
}

/** D-254, D-258: a folder whose tenants cannot be read is shown to none. */
function brokenAgents(
  agents: Services['agents'],
  { tenantId }: TenantScope,
): (BrokenAgent & { readonly name: string })[] {
  return agents.problems().flatMap((problem) => {
    const { folder, tenants } = problem;
    const isShown = tenants !== undefined && isEnabledFor({ tenants }, tenantId);
    return isShown ? [{ ...problem, name: folder }] : [];
  });
}
