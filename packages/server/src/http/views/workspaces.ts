import { type CallerRecord, type WorkspaceRecord, idPrefixes } from '@convoke/contract';
import type { AutomationCaller } from '../../domain/access.ts';
import type { ReachableTenant } from '../../ports/repositories/tenants.ts';
import { timestamp } from './fields.ts';

/** D-56. A workspace is a view of a tenant, so its id is the tenant's id with another prefix. */
export function workspaceView({ tenant, organizationName }: ReachableTenant): WorkspaceRecord {
  return {
    id: tenant.id.replace(idPrefixes.tenant, idPrefixes.workspace),
    organization_id: tenant.organizationId,
    organization_name: organizationName,
    tenant: {
      tenant_id: tenant.id,
      display_name: tenant.displayName,
      status: tenant.status,
      attachment_state: tenant.attachmentState,
    },
  };
}

/** D-56. */
export function callerView(caller: AutomationCaller, fileAttachments: boolean): CallerRecord {
  return {
    subject: caller.subject,
    kind: 'automation_client',
    client_id: caller.client.oauthClientId,
    organization_id: caller.scope.organizationId,
    tenant_id: caller.scope.tenantId,
    profile: caller.client.profile,
    scopes: [...caller.scopes],
    file_attachments_enabled: fileAttachments,
    expires_at: timestamp(caller.tokenExpiresAt),
  };
}
