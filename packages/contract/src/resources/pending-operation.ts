import { z } from 'zod';
import { timestamp } from './page.ts';

export const pendingOperationKinds = [
  'change_permissions',
  'disable_client',
  'delete_client',
  'revoke_credential',
] as const;

export type PendingOperationKind = (typeof pendingOperationKinds)[number];

/** What a 202 stands for: a withdrawal that is decided and durable, and whose cleanup still runs. */
export const pendingOperation = z
  .object({ kind: z.enum(pendingOperationKinds), requested_at: timestamp })
  .meta({
    id: 'PendingOperation',
    description: 'A withdrawal of access that is still being finished.',
  });

export type PendingOperation = z.infer<typeof pendingOperation>;
