import type { ConnectionReason } from '@convoke/contract';
import { isoTime } from '../iso-time.ts';
import type { NoticeDraft } from '../notice.ts';
import type { Connection, ConnectionSecret } from './connection.ts';

/**
 * One refresh of an access token, by one server, never sent twice (D-598). A refresh token is used up by its first use,
 * so a second request with it would be refused, and could end all tokens of the account.
 *
 * - free: `refreshingUntil` is null. A server that needs a fresh token claims the refresh.
 * - claimed: until `refreshingUntil` that server sends its one request. Others wait.
 * - lost: the claim ran out without an answer that is stored. Whether the request was carried out is not known, so it
 *   is never sent again: the connection expires.
 *
 * Where the clock is set back, times that were stored before are far away: a server that waits for a claim counts its
 * time itself, and a pause before the next request is never longer than it was made (D-949).
 */
export const claimMs = 30_000;
/** The request ends well before the claim does. */
export const answerMs = 15_000;
const retryMs = 30_000;
/** A request to a service gets a token that lasts at least this long; a leg one that lasts for its first minutes. */
export const aheadOfRequestMs = 60_000;
export const aheadOfLegMs = 300_000;

/** How the account can be used now. */
export type AccountState =
  | { readonly kind: 'usable' }
  | { readonly kind: 'due' }
  | { readonly kind: 'claimed'; readonly until: number }
  /** The token has ended, and its endpoint is asked again later. */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'expires'; readonly reason: ConnectionReason }
  | { readonly kind: 'expired' };

export interface WantedToken {
  readonly now: number;
  /** How long the token has to last. */
  readonly aheadMs: number;
  /** The service refused the token of this version: it has to be refreshed, however long it would last (D-600). */
  readonly refusedVersion?: number | undefined;
  /** False behind an attempt, or where its turn did not come (D-946): the token is used while it lasts. */
  readonly canRefresh?: boolean;
}

export function accountState(
  { status, version, auth, expiresAt, refreshingUntil, retryAt }: Connection,
  { now, aheadMs, refusedVersion, canRefresh = true }: WantedToken,
): AccountState {
  if (status === 'expired') return { kind: 'expired' };
  if (refreshingUntil !== null) {
    return refreshingUntil > now
      ? { kind: 'claimed', until: refreshingUntil }
      : { kind: 'expires', reason: 'refresh_lost' };
  }
  const isRefused = refusedVersion === version;
  const lasts = expiresAt === null || expiresAt - now > aheadMs;
  if (lasts && !isRefused) return { kind: 'usable' };
  const hasEnded = expiresAt !== null && expiresAt <= now;
  if (auth.type !== 'oauth' || !auth.refreshes) {
    if (isRefused) return { kind: 'expires', reason: 'rejected' };
    return hasEnded ? { kind: 'expires', reason: 'no_refresh' } : { kind: 'usable' };
  }
  const isPausing = retryAt !== null && retryAt > now && retryAt <= now + retryMs;
  if (canRefresh && !isPausing) return { kind: 'due' };
  return hasEnded || isRefused ? { kind: 'unavailable' } : { kind: 'usable' };
}

export function claimRefresh(seen: Connection, now: number): Connection {
  return { ...seen, refreshEpoch: seen.refreshEpoch + 1, refreshingUntil: now + claimMs };
}

/** Whether the row is still as the claim left it: no other server has replaced, expired or refreshed it since. */
export function isClaimOf(
  claimed: Pick<Connection, 'version' | 'refreshEpoch'>,
  now: Connection,
): boolean {
  return (
    now.status === 'connected' &&
    now.version === claimed.version &&
    now.refreshEpoch === claimed.refreshEpoch &&
    now.refreshingUntil !== null
  );
}

/** How a token endpoint answered (D-599). */
export type RefreshAnswer =
  | { readonly kind: 'refreshed'; readonly token: FreshToken }
  /** The refresh token is not accepted. */
  | { readonly kind: 'refused' }
  /** Nothing was sent, or the answer says to ask later: the refresh token is still good. */
  | { readonly kind: 'unavailable' }
  /** The request may have been carried out. */
  | { readonly kind: 'lost' };

export interface FreshToken {
  readonly accessToken: string;
  /** Absent: the previous one is kept. */
  readonly refreshToken?: string | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly scope?: string | undefined;
}

export function laterRefresh(claimed: Connection, now: number): Connection {
  return { ...claimed, refreshingUntil: null, retryAt: now + retryMs };
}

export function refreshedSecret(
  before: ConnectionSecret,
  { accessToken, refreshToken = before.refreshToken }: FreshToken,
): ConnectionSecret {
  return { ...before, value: accessToken, refreshToken };
}

/** The connection with its new token. `sealed` is for the next version. */
export function refreshed(
  claimed: Connection,
  { token, sealed }: { readonly token: FreshToken; readonly sealed: string },
  now: number,
): Connection {
  const { expiresInSeconds, scope } = token;
  const { auth } = claimed;
  return {
    ...claimed,
    sealed,
    auth: auth.type === 'oauth' && scope !== undefined ? { ...auth, scope } : auth,
    expiresAt: expiresInSeconds === undefined ? null : now + expiresInSeconds * 1000,
    version: claimed.version + 1,
    refreshingUntil: null,
    retryAt: null,
    updatedAt: now,
  };
}

/** An answer to the claim that comes later is dropped: its epoch is over. */
export function expire(seen: Connection, reason: ConnectionReason, now: number): Connection {
  return {
    ...seen,
    status: 'expired',
    statusReason: reason,
    refreshEpoch: seen.refreshEpoch + 1,
    refreshingUntil: null,
    updatedAt: now,
  };
}

/** D-602: a product can ask its user to connect again. */
export function expiredNotice({ id, service, endUser, statusReason }: Connection, at: number) {
  const data = {
    connection_id: id,
    service,
    ...(endUser === null ? {} : { end_user: endUser }),
    reason: statusReason ?? '',
  };
  return { type: 'connection_expired', at, data } as const satisfies NoticeDraft;
}

/** Why an expired connection cannot be used, for the error of a run or the result of a tool. */
export function expiredText({ service, updatedAt }: Pick<Connection, 'service' | 'updatedAt'>) {
  return `${service} is not connected: the connection has expired (${isoTime(updatedAt)})`;
}

/** Why an account is of no use any more, though its row does not say so yet. */
export interface EndOfAccount {
  readonly reason: ConnectionReason;
}

/** Whether a run can be accepted with it: it is connected, and has not ended without a way to refresh it (D-601). */
export function stateAtStart(
  connection: Connection,
  now: number,
): 'usable' | 'unusable' | EndOfAccount {
  const state = accountState(connection, { now, aheadMs: 0 });
  if (state.kind === 'expires') return { reason: state.reason };
  return state.kind === 'expired' ? 'unusable' : 'usable';
}
