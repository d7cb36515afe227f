import type { PageRequest } from '../ports/page.ts';
import type { ReachableTenant, TenantReach } from '../ports/repositories/identity/tenants.ts';
import type { Services } from './services.ts';

/** D-56: lists the usable tenants that the caller can access. */
export async function listWorkspaces(
  { store }: Pick<Services, 'store'>,
  reach: TenantReach,
  page: PageRequest,
): Promise<ReachableTenant[]> {
  if (reach.organizationIds.length === 0) return [];
  return store.read.tenants.reachable(reach, page);
}
