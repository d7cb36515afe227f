import type { ClientId, PendingOperationKind } from '@convoke/contract';
import type { Withdrawal } from '../../../domain/withdrawal.ts';

export interface WithdrawalRepository {
  insert(withdrawal: Withdrawal): Promise<void>;
  find(id: string): Promise<Withdrawal | undefined>;
  /** Writes `next` if the row still has the step and attempts of `seen`; false otherwise. */
  save(next: Withdrawal, seen: Withdrawal): Promise<boolean>;
  /** Deletes a finished withdrawal; false when the row is no longer at `seen`. */
  remove(seen: Withdrawal): Promise<boolean>;
  /** Deletes a pending withdrawal of access that was given back. */
  cancel(clientId: ClientId, kind: PendingOperationKind): Promise<void>;
  /** Withdrawals whose next attempt is due, oldest first. */
  due(now: number, limit: number): Promise<Withdrawal[]>;
  /** Pending withdrawals of these clients, oldest first. */
  ofClients(clientIds: readonly ClientId[]): Promise<Withdrawal[]>;
}
