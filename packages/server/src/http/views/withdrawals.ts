import type { PendingOperation } from '@convoke/contract';
import type { Withdrawal } from '../../domain/withdrawal.ts';
import { isoTime } from '../../domain/iso-time.ts';

/** The operation that a 202 answer waits for. */
export function pendingView({ kind, requestedAt }: Withdrawal): PendingOperation {
  return { kind, requested_at: isoTime(requestedAt) };
}
