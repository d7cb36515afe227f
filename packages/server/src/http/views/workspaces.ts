import { type CallerRecord, type WorkspaceRecord, idPrefixes } from '@convoke/contract';
import type { ApplicationCaller, CallerIdentity, OwnSession } from '../../domain/access.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { ReachableTenant } from '../../ports/repositories/identity/tenants.ts';

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

/** D-56, D-154: a person has a role; an automation client has its OAuth id and a profile. */
export function callerView(caller: ApplicationCaller, fileAttachments: boolean): CallerRecord {
  return {
    subject: caller.actor.id,
    ...identityView(caller.identity),
    ...sessionView(caller.session),
    organization_id: caller.scope.organizationId,
    tenant_id: caller.scope.tenantId,
    scopes: [...caller.scopes],
    file_attachments_enabled: fileAttachments,
    expires_at: isoTime(caller.tokenExpiresAt),
  };
}

/** D-198: a page learns which session its token is for. */
function sessionView(session: OwnSession | undefined) {
  if (session === undefined) return {};
  const { id: session_id, endUser } = session;
  return { session_id, ...(endUser === undefined ? {} : { end_user: endUser }) };
}

function identityView(identity: CallerIdentity) {
  if (identity.kind === 'person') return { kind: 'person', role: identity.role } as const;
  const { oauthClientId, profile } = identity.client;
  return { kind: 'automation_client', client_id: oauthClientId, profile } as const;
}
