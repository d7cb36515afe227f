import type { Withdrawal } from '../domain/withdrawal.ts';

/**
 * Where client secrets are kept and checked. The built-in one is our own database, where a withdrawal is
 * complete with the row that records it; another one may need time.
 */
export interface CredentialProvider {
  /** Cleans up what was withdrawn. May be repeated. `pending`: it has been asked for and is not done yet. */
  withdraw(withdrawal: Withdrawal): Promise<'done' | 'pending'>;
}
