import type {
  ClientId,
  CredentialId,
  OrganizationId,
  PendingOperationKind,
} from '@convoke/contract';
import type { Client } from './client.ts';

/**
 * Cleanup after access was taken away (spec §5.7). Access itself ends in the request's transaction: it
 * changes the client's or the credential's row, which the gate and the token endpoint read on every request.
 * The same transaction inserts this record of the remaining steps:
 *
 * - `streams`: open streams of the client check their access again. A revoked credential ends those that its
 *   tokens opened, although requests with these tokens are accepted until they expire.
 * - `provider`: the provider of secrets cleans up.
 *
 * A step that fails is retried with backoff. The record is deleted after the last step. Every step is
 * idempotent.
 */
export interface Withdrawal {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly clientId: ClientId;
  /** With `revoke_credential`. */
  readonly credentialId: CredentialId | null;
  readonly kind: PendingOperationKind;
  readonly step: WithdrawalStep;
  readonly attempts: number;
  readonly nextAttemptAt: number;
  readonly requestedAt: number;
}

export const withdrawalSteps = ['streams', 'provider'] as const;
export type WithdrawalStep = (typeof withdrawalSteps)[number];

export type NewWithdrawal = Pick<
  Withdrawal,
  'id' | 'organizationId' | 'clientId' | 'credentialId' | 'kind'
>;

/** The request itself tries first; after this time a worker takes over. */
const firstAttemptMs = 2_000;

export function openWithdrawal(fresh: NewWithdrawal, now: number): Withdrawal {
  return {
    ...fresh,
    step: 'streams',
    attempts: 0,
    nextAttemptAt: now + firstAttemptMs,
    requestedAt: now,
  };
}

/** The kind of access that a change of a client takes away, if any. */
export function withdrawnBy(seen: Client, next: Client): PendingOperationKind | undefined {
  if (next.deletedAt !== null) return 'delete_client';
  if (seen.status === 'active' && next.status === 'disabled') return 'disable_client';
  const isNarrowed = seen.scopes.some((scope) => !next.scopes.includes(scope));
  return isNarrowed ? 'change_permissions' : undefined;
}

/** The kind of access that a change of a client gives back. A pending withdrawal of it is cancelled. */
export function restoredBy(seen: Client, next: Client): PendingOperationKind | undefined {
  if (seen.status === 'disabled' && next.status === 'active') return 'disable_client';
  const isWidened = next.scopes.some((scope) => !seen.scopes.includes(scope));
  return isWidened ? 'change_permissions' : undefined;
}

/** The step succeeded. Returns the record at its next step; undefined after the last. */
export function stepTaken(withdrawal: Withdrawal): Withdrawal | undefined {
  const step = withdrawalSteps[withdrawalSteps.indexOf(withdrawal.step) + 1];
  return step && { ...withdrawal, step, attempts: 0 };
}

const longestPauseMs = 60_000;

export function stepPostponed(withdrawal: Withdrawal, now: number): Withdrawal {
  const attempts = withdrawal.attempts + 1;
  const pauseMs = Math.min(1_000 * 2 ** Math.min(withdrawal.attempts, 10), longestPauseMs);
  return { ...withdrawal, attempts, nextAttemptAt: now + pauseMs };
}
