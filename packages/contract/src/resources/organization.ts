import { z } from 'zod';
import { memberRoles } from './caller.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

const organizationName = z.string().meta({ examples: ['Acme'] });
const email = z
  .string()
  .meta({ description: 'Absent when no issuer has verified one.', examples: ['ann@acme.example'] })
  .optional();

const personName = z
  .string()
  .meta({ description: 'What the person wants to be called.', examples: ['Ann Miller'] })
  .optional();

export const organizationRecord = z
  .object({
    id: opaqueId('organization'),
    name: organizationName,
    role: z.enum(memberRoles).meta({ description: 'Role of the caller.' }),
    created_at: timestamp,
    counts: z.object({
      tenants: z.int().min(0).meta({ description: 'Tenants that are not offboarded.' }),
      clients: z.int().min(0),
      members: z.int().min(0),
    }),
  })
  .meta({ id: 'Organization', description: 'Owns tenants and automation clients.' });

export type OrganizationRecord = z.infer<typeof organizationRecord>;

export const memberRecord = z
  .object({
    user_id: opaqueId('user'),
    name: personName,
    email,
    role: z.enum(memberRoles),
    created_at: timestamp.meta({ description: 'When the person joined.' }),
  })
  .meta({ id: 'Member', description: 'A person in an organization.' });

export type MemberRecord = z.infer<typeof memberRecord>;

export const memberList = z.object({ members: z.array(memberRecord), next_cursor: nextCursor });

export const meRecord = z
  .object({
    user_id: opaqueId('user'),
    name: personName,
    email,
    memberships: z.array(
      z.object({
        organization_id: opaqueId('organization'),
        organization_name: organizationName,
        role: z.enum(memberRoles),
      }),
    ),
  })
  .meta({ id: 'Me', description: 'The person who is signed in, with their organizations.' });

export type MeRecord = z.infer<typeof meRecord>;
