import { type OrganizationId, tenantId } from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import type { Repositories } from '../ports/store.ts';

/** Whether a tenant of the organization may have the agent: of any other its people may not know (D-254). */
export async function isOffered(
  repositories: Pick<Repositories, 'tenants'>,
  organizationId: OrganizationId,
  { tenants }: Pick<Agent, 'tenants'>,
): Promise<boolean> {
  if (tenants.default === 'enabled') return true;
  const allowed = tenants.allow.map(tenantId);
  return (await repositories.tenants.bindable(organizationId, allowed)).length > 0;
}
