import { type Agent, isEnabledFor } from '../domain/agent.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { PageRequest } from '../ports/page.ts';
import type { Services } from './services.ts';

/** Lists the agents enabled for the tenant, by name. They are in memory, so a page is a slice. */
export function listAgents(
  { agents }: Pick<Services, 'agents'>,
  scope: TenantScope,
  { limit, order, after }: PageRequest,
): Agent[] {
  const enabled = agents.all().filter((agent) => isEnabledFor(agent, scope.tenantId));
  const sorted = enabled.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (order === 'desc') sorted.reverse();
  const isAfter = (name: string) =>
    after === undefined || (order === 'asc' ? name > after : name < after);
  return sorted.filter((agent) => isAfter(agent.name)).slice(0, limit);
}
