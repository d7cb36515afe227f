import { z } from 'zod';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

/** D-67. A tenant is usable when it is `active` and its attachment state is `ready`. */
export const tenantStatuses = [
  'provisioning',
  'active',
  'failed',
  'offboarding',
  'offboarded',
] as const;

export type TenantStatus = (typeof tenantStatuses)[number];

export const attachmentStates = ['pending', 'ready', 'failed', 'detached'] as const;
export type AttachmentState = (typeof attachmentStates)[number];

/** A tenant and the state of its attachment (D-60). */
export const tenantRecord = z
  .object({
    id: opaqueId('tenant'),
    organization_id: opaqueId('organization'),
    display_name: z.string().meta({ examples: ['Acme Europe'] }),
    mode: z.string().meta({ examples: ['saas'] }),
    status: z.enum(tenantStatuses),
    attachment_state: z.enum(attachmentStates),
    status_reason: z.string().optional(),
    unbound_clients: z
      .int()
      .min(0)
      .meta({
        description:
          'Number of automation clients without `tenant_ids`: they can access this tenant once it is usable, and then have to select a tenant. Present only when one tenant is created or read.',
      })
      .optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({
    id: 'Tenant',
    description: 'An isolated part of an organization, with its own sessions.',
  });

export type TenantRecord = z.infer<typeof tenantRecord>;

export const tenantList = z.object({ tenants: z.array(tenantRecord), next_cursor: nextCursor });
