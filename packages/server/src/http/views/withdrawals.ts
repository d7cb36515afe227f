import type { PendingOperation } from '@convoke/contract';
import type { Withdrawal } from '../../domain/withdrawal.ts';
import { timestamp } from './fields.ts';

/** What a 202 waits for. */
export function pendingView({ kind, requestedAt }: Withdrawal): PendingOperation {
  return { kind, requested_at: timestamp(requestedAt) };
}
