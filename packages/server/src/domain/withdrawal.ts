import type {
  ClientId,
  CredentialId,
  OrganizationId,
  PendingOperationKind,
} from '@convoke/contract';
import type { Client } from './client.ts';

/**
 * Taking access away (spec §5.7). What bites changes in the transaction that answers the request: the row
 * of the client or of the credential, which the gate and the token endpoint read each time. What is left to
 * do then is this record, entered in that same transaction.
 *
 * - `streams`: readers of the client look again at what they may still see. Revoking a credential begins
 *   after it: tokens that it obtained live on, and so do the streams they opened.
 * - `provider`: where secrets are kept, what was withdrawn is cleaned up.
 *
 * A step that could not be taken stands, and is tried again later and later. After the last one the record
 * is gone. Every step may be taken twice with the effect of once.
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

/** Whoever asked for it tries first; a worker takes over when that was not enough. */
const firstAttemptMs = 2_000;

export function openWithdrawal(fresh: NewWithdrawal, now: number): Withdrawal {
  const step = fresh.kind === 'revoke_credential' ? 'provider' : 'streams';
  return { ...fresh, step, attempts: 0, nextAttemptAt: now + firstAttemptMs, requestedAt: now };
}

/** What a change of a client takes away, if anything. */
export function withdrawnBy(seen: Client, next: Client): PendingOperationKind | undefined {
  if (next.deletedAt !== null) return 'delete_client';
  if (seen.status === 'active' && next.status === 'disabled') return 'disable_client';
  const isNarrowed = seen.scopes.some((scope) => !next.scopes.includes(scope));
  return isNarrowed ? 'change_permissions' : undefined;
}

/** What a change of a client gives back: a withdrawal of this kind that still runs is called off. */
export function restoredBy(seen: Client, next: Client): PendingOperationKind | undefined {
  if (seen.status === 'disabled' && next.status === 'active') return 'disable_client';
  const isWidened = next.scopes.some((scope) => !seen.scopes.includes(scope));
  return isWidened ? 'change_permissions' : undefined;
}

/** The step was taken: the next one stands, or nothing is left. */
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
