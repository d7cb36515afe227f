import type { OrganizationId } from '@convoke/contract';
import type { Agent } from '../../domain/agent.ts';
import type { RuledAgent, RuledWorld } from '../../domain/rules/warnings.ts';
import type { Repositories } from '../../ports/store.ts';
import { isOffered } from '../offered-agents.ts';
import type { Services } from '../services.ts';

export interface PeopleKnown {
  /** Whether the database knows the roles of all people, or tokens of another issuer claim them. */
  readonly roles: 'stored' | 'claimed';
}

/** The agents and people that the rules of the organization can be about. */
export async function ruledWorld(
  { agents, roles }: Pick<Services, 'agents'> & PeopleKnown,
  repositories: Pick<Repositories, 'organizations' | 'tenants'>,
  organizationId: OrganizationId,
): Promise<RuledWorld> {
  const known: RuledAgent[] = [];
  for (const { tenants, ...agent } of listed(agents)) {
    if (await isOffered(repositories, organizationId, { tenants })) known.push(agent);
  }
  const people =
    roles === 'stored' ? await repositories.organizations.countRoles(organizationId) : undefined;
  return { agents: known, people };
}

/** Agents, and folders that will be ones once they are repaired. */
function listed(agents: Services['agents']): (RuledAgent & Pick<Agent, 'tenants'>)[] {
  const whole = agents.all().map(({ name, framework, facts, tenants }) => ({
    name,
    framework,
    tools: facts?.tools,
    tenants,
  }));
  const broken = agents
    .problems()
    .flatMap(({ folder: name, framework, tenants }) =>
      tenants === undefined ? [] : [{ name, framework, tenants }],
    );
  return [...whole, ...broken];
}
