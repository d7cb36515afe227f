import type { ConnectionReason } from '@convoke/contract';
import type {
  Connection,
  ConnectionPlace,
  ConnectionSecret,
} from '../../domain/connections/connection.ts';
import {
  type RefreshAnswer,
  type WantedToken,
  accountState,
  answerMs,
  claimMs,
  claimRefresh,
  isClaimOf,
  laterRefresh,
  refreshed,
  refreshedSecret,
} from '../../domain/connections/refresh.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { retryStorage } from '../../runtime/retry-storage.ts';
import type { Services } from '../services.ts';
import { type Change, changeConnection, expireSeen, expireWhere } from './expire-account.ts';

export type AccountServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'fanout'
  | 'metrics'
  | 'connectionSecrets'
  | 'tokenEndpoints'
  | 'tokenRequests'
>;

/** Wake-ups can be lost, so a server that waits for the refresh of another one also polls. */
const lookAgainMs = 1000;
const usedToMs = 60_000;

export type Account =
  | {
      readonly kind: 'usable';
      readonly connection: Connection;
      readonly secret: ConnectionSecret;
    }
  | { readonly kind: 'expired' | 'unavailable'; readonly connection: Connection }
  | { readonly kind: 'missing' };

export interface WantedAccount extends Omit<WantedToken, 'now' | 'canRefresh'> {
  readonly scope: TenantScope;
  readonly at: ConnectionPlace;
}

/**
 * The account as it is now, with a token that lasts: refreshed by this server, or by the one that has claimed the
 * refresh, once. Some services issue no token that lasts as long as is wanted, and would be asked forever. Reads the
 * row each time, so that a revocation counts for the next request (D-597).
 */
export async function currentAccount(
  services: AccountServices,
  wanted: WantedAccount,
): Promise<Account> {
  let canRefresh = true;
  using claims = new AwaitedClaims(services.clock);
  for (;;) {
    const { store, clock, tokenRequests } = services;
    const seen = await store.read.connections.find(wanted.scope, wanted.at);
    if (seen === undefined) return { kind: 'missing' };
    const state = accountState(seen, { ...wanted, now: clock.now(), canRefresh });
    switch (state.kind) {
      case 'expired':
      case 'unavailable':
        return { kind: state.kind, connection: seen };
      case 'usable': {
        const secret = services.connectionSecrets.open(seen);
        if (secret !== undefined) return { kind: 'usable', connection: seen, secret };
        await expireSeen(services, seen, 'unreadable');
        break;
      }
      case 'expires':
        await expireSeen(services, seen, state.reason);
        break;
      case 'claimed':
        if (claims.hasRunOut(seen)) await expireSeen(services, seen, 'refresh_lost');
        else await nextChange(services, seen, state.until);
        canRefresh = false;
        break;
      case 'due':
        // The turn comes before the claim, which would run out in the queue and end the account.
        await tokenRequests.inTurn(seen.tenantId, {
          request: () => refresh(services, seen),
          late: undefined,
        });
        canRefresh = false;
        break;
      default:
        return state satisfies never;
    }
  }
}

/** The service refused the account of this version, and there is no fresher one (D-600). */
export function rejectAccount(services: AccountServices, used: Connection): Promise<void> {
  return expireSeen(services, used, 'rejected');
}

/** Exact to a minute: most requests write nothing. */
export async function noteUse({ store, clock }: AccountServices, used: Connection): Promise<void> {
  const now = clock.now();
  if (used.lastUsedAt !== null && now - used.lastUsedAt < usedToMs) return;
  await store.transaction((tx) => tx.connections.saveUse(used, now));
}

/** Claims the refresh, sends the one request and stores its answer. No transaction is open in between. */
async function refresh(services: AccountServices, seen: Connection): Promise<void> {
  const { clock, connectionSecrets, tokenEndpoints } = services;
  const claimed = await changeConnection(services, seen, {
    isStill: (now) => now.version === seen.version && now.refreshEpoch === seen.refreshEpoch,
    next: claimRefresh,
  });
  if (claimed === undefined) return;
  const secret = connectionSecrets.open(claimed);
  const { auth, tenantId, refreshingUntil } = claimed;
  if (secret?.refreshToken === undefined || auth.type !== 'oauth') {
    return expireClaim(services, claimed, 'unreadable');
  }
  // The process may have been suspended: the answer must arrive while the claim holds. Nothing was sent.
  if (clock.now() > (refreshingUntil ?? 0) - answerMs) {
    return storeAnswer(services, claimed, { answer: { kind: 'unavailable' }, secret });
  }
  const answer = await tokenEndpoints.refresh({
    tenantId,
    url: auth.tokenEndpoint ?? '',
    clientId: auth.clientId ?? '',
    clientSecret: secret.clientSecret,
    resource: auth.resource,
    refreshToken: secret.refreshToken,
  });
  // No other server has the answer. What was stored after all is not stored again: that ended the claim.
  const shouldRetry = () => clock.now() < (refreshingUntil ?? 0);
  await retryStorage({ clock, shouldRetry }, () =>
    storeAnswer(services, claimed, { answer, secret }),
  );
  services.metrics.connectionRefreshes.add(1, answer.kind);
}

async function storeAnswer(
  services: AccountServices,
  claimed: Connection,
  { answer, secret }: { readonly answer: RefreshAnswer; readonly secret: ConnectionSecret },
): Promise<void> {
  switch (answer.kind) {
    case 'refused':
      return expireClaim(services, claimed, 'refresh_refused');
    case 'lost':
      return expireClaim(services, claimed, 'refresh_lost');
    case 'unavailable':
      await changeConnection(services, claimed, { isStill: ofClaim(claimed), next: laterRefresh });
      return;
    case 'refreshed': {
      const { token } = answer;
      const of = { id: claimed.id, version: claimed.version + 1 };
      const sealed = services.connectionSecrets.seal(of, refreshedSecret(secret, token));
      const next = (now: Connection, at: number) => refreshed(now, { token, sealed }, at);
      await changeConnection(services, claimed, { isStill: ofClaim(claimed), next });
      return;
    }
    default:
      return answer satisfies never;
  }
}

function ofClaim(claimed: Connection): Change['isStill'] {
  return (now) => isClaimOf(claimed, now);
}

function expireClaim(services: AccountServices, claimed: Connection, reason: ConnectionReason) {
  return expireWhere(services, claimed, { isStill: ofClaim(claimed), reason });
}

/**
 * The claims of others that a request for an account waits for, one after the other. It counts their time itself: the
 * clock may have been set back since.
 */
class AwaitedClaims implements Disposable {
  readonly #clock: AccountServices['clock'];
  #epoch: number | undefined;
  #isOver = false;
  #cancelTimer = () => {};

  constructor(clock: AccountServices['clock']) {
    this.#clock = clock;
  }

  /** Whether this claim was seen for as long as one lasts. */
  hasRunOut({ refreshEpoch }: Connection): boolean {
    if (this.#epoch !== refreshEpoch) {
      this.#cancelTimer();
      this.#epoch = refreshEpoch;
      this.#isOver = false;
      this.#cancelTimer = this.#clock.after(claimMs, () => {
        this.#isOver = true;
      });
    }
    return this.#isOver;
  }

  [Symbol.dispose](): void {
    this.#cancelTimer();
  }
}

/** Resolves when another server may have ended its claim. */
async function nextChange(
  { clock, fanout, store }: AccountServices,
  seen: Connection,
  until: number,
): Promise<void> {
  const changed = Promise.withResolvers<void>();
  const drop = fanout.subscribe(`connection:${seen.id}`, changed.resolve);
  const waitMs = Math.max(1, Math.min(lookAgainMs, until - clock.now()));
  const cancelTimer = clock.after(waitMs, changed.resolve);
  try {
    // It may have changed before the subscription.
    const now = await store.read.connections.find(seen, seen);
    if (now?.refreshEpoch === seen.refreshEpoch && now.refreshingUntil !== null) {
      await changed.promise;
    }
  } finally {
    cancelTimer();
    drop();
  }
}
