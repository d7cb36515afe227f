import type { ClientId, PendingOperationKind } from '@convoke/contract';
import type { Withdrawal } from '../../domain/withdrawal.ts';

export interface WithdrawalRepository {
  insert(withdrawal: Withdrawal): Promise<void>;
  find(id: string): Promise<Withdrawal | undefined>;
  /** Writes `next` where the row still stands where `seen` stood; false when the world moved on. */
  save(next: Withdrawal, seen: Withdrawal): Promise<boolean>;
  /** Nothing is left to do; false when the world moved on. */
  remove(seen: Withdrawal): Promise<boolean>;
  /** Calls off what was given back. */
  callOff(clientId: ClientId, kind: PendingOperationKind): Promise<void>;
  /** Those whose next attempt is due, longest waiting first. */
  due(now: number, limit: number): Promise<Withdrawal[]>;
  /** Everything that still runs for these clients, oldest first. */
  ofClients(clientIds: readonly ClientId[]): Promise<Withdrawal[]>;
}
