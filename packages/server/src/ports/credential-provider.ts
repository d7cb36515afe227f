import type { Withdrawal } from '../domain/withdrawal.ts';

/**
 * Stores client secrets. The built-in provider is the service's own database, where a withdrawal is complete
 * with its row. It is the only one so far: the port exists because the API promises `pending_operation` (D-243) for a
 * provider that needs time.
 */
export interface CredentialProvider {
  /** Cleans up after a withdrawal. Idempotent. `pending`: requested and not done yet. */
  withdraw(withdrawal: Withdrawal): Promise<'done' | 'pending'>;
}
