import type { Withdrawal } from '../domain/withdrawal.ts';

/**
 * Stores client secrets. The built-in provider is the service's own database, where a withdrawal is complete
 * with its row; an external provider may need time.
 */
export interface CredentialProvider {
  /** Cleans up after a withdrawal. Idempotent. `pending`: requested and not done yet. */
  withdraw(withdrawal: Withdrawal): Promise<'done' | 'pending'>;
}
