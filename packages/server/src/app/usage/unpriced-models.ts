import { type OrganizationId, clientId, tenantId } from '@convoke/contract';
import { type Agent, isEnabledFor } from '../../domain/agent.ts';
import type { Budget } from '../../domain/usage/budget.ts';
import { isRefused } from '../../domain/usage/prices.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { refuse } from '../refusal.ts';
import { isOffered } from '../offered-agents.ts';
import type { Services } from '../services.ts';

/** More names than this are counted, not listed. */
const namesMax = 10;
const remedy =
  'Name their prices in the file of CONVOKE_PRICES, or write "unpriced: allow" there, or limit tokens instead.';

/** D-131: a ceiling of cost means nothing where the cost is not known. */
export function refuseUnpriced({ name, model = '' }: Agent): never {
  return refuse('unpriced_model', {
    message: `budget.max_cost: ${model}, the model of ${name}, has no price here.`,
  });
}

/** Refuses a budget of cost for a scope with agents whose runs it would refuse, and names them (D-281). */
export async function refuseUnpricedAgents(
  { agents, prices }: Pick<Services, 'agents' | 'prices'>,
  tx: StoreTransaction,
  { organizationId, scope }: Pick<Budget, 'organizationId' | 'scope'>,
): Promise<void> {
  const names: string[] = [];
  const unpriced = agents.all().filter((agent) => isRefused(prices, agent));
  if (unpriced.length === 0) return;
  const isCovered = await coverageOf(tx, organizationId, scope);
  for (const agent of unpriced) if (await isCovered(agent)) names.push(agent.name);
  if (names.length === 0) return;
  const listed = names.slice(0, namesMax).join(', ');
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  refuse('unpriced_model', {
    message: `max_cost: this budget would refuse every run of agents whose models have no price: ${listed}${more}. ${remedy}`,
  });
}

type Covers = (agent: Agent) => boolean | Promise<boolean>;

/** Which agents the runs of a scope can have, as far as the organization may know of them. */
async function coverageOf(
  tx: StoreTransaction,
  organizationId: OrganizationId,
  { kind, id }: Budget['scope'],
): Promise<Covers> {
  const isKnown = (agent: Agent) => isOffered(tx, organizationId, agent);
  switch (kind) {
    case 'tenant':
      return (agent) => isEnabledFor(agent, tenantId(id));
    case 'client': {
      const client = await tx.clients.find(organizationId, clientId(id));
      const tenants = client?.tenantIds ?? null;
      if (tenants === null) return isKnown;
      return (agent) => tenants.some((tenant) => isEnabledFor(agent, tenant));
    }
    case 'agent':
      return async (agent) => agent.name === id && (await isKnown(agent));
    case 'session': {
      const name = await tx.budgets.agentOfSession(organizationId, id);
      return (agent) => agent.name === name;
    }
    default:
      return kind satisfies never;
  }
}
