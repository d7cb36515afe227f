import { z } from 'zod';
import { opaqueId } from './opaque-id.ts';
import { nextCursor } from './page.ts';
import { attachmentStates, tenantStatuses } from './tenant.ts';

/** D-56. Selected with `X-Organization-ID` and `X-Workspace-Tenant-ID`. */
export const workspaceRecord = z
  .object({
    id: opaqueId('workspace'),
    organization_id: opaqueId('organization'),
    organization_name: z.string().meta({ examples: ['Acme'] }),
    tenant: z.object({
      tenant_id: opaqueId('tenant'),
      display_name: z.string().meta({ examples: ['Acme Europe'] }),
      status: z.enum(tenantStatuses),
      attachment_state: z.enum(attachmentStates),
    }),
  })
  .meta({
    id: 'Workspace',
    description: 'A tenant that the caller can access, with its organization.',
  });

export type WorkspaceRecord = z.infer<typeof workspaceRecord>;

export const workspaceList = z.object({
  workspaces: z.array(workspaceRecord),
  next_cursor: nextCursor,
});
