import type { PendingOperation } from '@convoke/contract';
import type { Withdrawal } from '../../domain/withdrawal.ts';
import { timestamp } from './fields.ts';

/** The operation that a 202 answer waits for. */
export function pendingView({ kind, requestedAt }: Withdrawal): PendingOperation {
  return { kind, requested_at: timestamp(requestedAt) };
}
