import { z } from 'zod';
import { timestamp } from './page.ts';

export const pendingOperationKinds = [
  'change_permissions',
  'disable_client',
  'delete_client',
  'revoke_credential',
] as const;

export type PendingOperationKind = (typeof pendingOperationKinds)[number];

/** The reason for a 202: access is revoked durably, and its cleanup continues. */
export const pendingOperation = z
  .object({ kind: z.enum(pendingOperationKinds), requested_at: timestamp })
  .meta({
    id: 'PendingOperation',
    description: 'A revocation of access whose cleanup continues.',
  });

export type PendingOperation = z.infer<typeof pendingOperation>;
