import { z } from 'zod';
import { profileNames, profiles, scopes } from '../scopes.ts';
import { credentialRecord } from './credential.ts';
import { actorName } from './labels.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';
import { pendingOperation } from './pending-operation.ts';

export const clientStatuses = ['active', 'disabled'] as const;
export type ClientStatus = (typeof clientStatuses)[number];

/** A machine client of an organization, without any secret (D-60). */
export const clientRecord = z
  .object({
    id: opaqueId('client').meta({ description: 'Record id, used in paths.' }),
    client_id: z.string().meta({
      description: 'OAuth client id, used to obtain tokens.',
      examples: ['convoke-7k2m9x4c'],
    }),
    name: z.string().meta({ examples: ['Nightly reports'] }),
    description: z.string().optional(),
    profile: z.enum(profileNames),
    scopes: z.array(z.enum(scopes)).meta({ examples: [[...profiles.observe]] }),
    tenant_ids: z
      .array(opaqueId('tenant'))
      .meta({ description: 'The tenants that the client can access (default: all).' })
      .optional(),
    status: z.enum(clientStatuses),
    version: z.int().min(1).meta({ description: 'Send it with every update.' }),
    pending_operation: pendingOperation.optional(),
    created_at: timestamp,
    updated_at: timestamp,
    created_by: opaqueId('user'),
    created_by_name: actorName.optional(),
  })
  .meta({
    id: 'Client',
    description: 'An automation client: a machine identity of the organization.',
  });

export type ClientRecord = z.infer<typeof clientRecord>;

export const clientList = z.object({ clients: z.array(clientRecord), next_cursor: nextCursor });

export const clientWithCredentials = z.object({
  client: clientRecord,
  credentials: z.array(credentialRecord),
});

/** The only response that contains the first secret of a client. */
export const issuedClient = z.object({
  client: clientRecord,
  credential: credentialRecord,
  client_id: z.string().meta({ examples: ['convoke-7k2m9x4c'] }),
  client_secret: z
    .string()
    .meta({ description: 'Shown only in this response.', examples: ['cvk_…'] }),
});

export type IssuedClient = z.infer<typeof issuedClient>;

/** The profiles, scopes, and the operations that each scope allows (D-66). */
export const profileCatalog = z
  .object({
    catalog_version: z.int(),
    profiles: z.array(
      z.object({
        name: z.enum(profileNames),
        description: z.string(),
        scopes: z.array(z.enum(scopes)),
      }),
    ),
    scopes: z.array(
      z.object({
        name: z.enum(scopes),
        description: z.string(),
        operations: z
          .array(z.string())
          .meta({ description: 'Ids of the operations that it allows.' }),
      }),
    ),
  })
  .meta({
    id: 'ProfileCatalog',
    description: 'The permission profiles and scopes that clients can have.',
  });

export type ProfileCatalog = z.infer<typeof profileCatalog>;
