import type { TenantRecord } from '@convoke/contract';
import type { Tenant } from '../../domain/tenant.ts';
import { isoTime } from '../../domain/iso-time.ts';

/** D-60. `unboundClients` is given where one tenant is created or read. */
export function tenantView(tenant: Tenant, unboundClients?: number): TenantRecord {
  return {
    id: tenant.id,
    organization_id: tenant.organizationId,
    display_name: tenant.displayName,
    mode: tenant.mode,
    status: tenant.status,
    attachment_state: tenant.attachmentState,
    status_reason: tenant.statusReason ?? undefined,
    unbound_clients: unboundClients,
    created_at: isoTime(tenant.createdAt),
    updated_at: isoTime(tenant.updatedAt),
  };
}
