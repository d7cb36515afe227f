import type { OrganizationId } from '@convoke/contract';
import type { PageRequest } from '../ports/page.ts';
import type { ReachableTenant } from '../ports/repositories/tenants.ts';
import type { Services } from './services.ts';

/** D-56: lists the usable tenants of the caller's organizations. */
export async function listWorkspaces(
  { store }: Pick<Services, 'store'>,
  organizationIds: readonly OrganizationId[],
  page: PageRequest,
): Promise<ReachableTenant[]> {
  if (organizationIds.length === 0) return [];
  return store.read.tenants.reachable(organizationIds, page);
}
