import type { UserId } from '@convoke/contract';
import {
  changePassword,
  fingerprintOf,
  replaceOneTimePassword,
} from '../../app/people/passwords.ts';
import { orRefuse, refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import { readEmail } from '../../domain/member.ts';
import { readPassword } from '../../domain/people/password.ts';
import type { RateLimit } from '../../ports/rate-limit.ts';
import type { User } from '../../ports/repositories/identity/organizations.ts';
import { networkOf } from '../../runtime/network-of.ts';
import type { PasswordTurns } from '../password-turns.ts';
import type { Passwords } from '../passwords.ts';
import type { Exchange } from './exchange.ts';
import { createKnownNetworks } from './known-networks.ts';

/** Checks the password of a person. */
export interface SignIn {
  attempt(login: PasswordLogin): Promise<SignInResult>;
  /**
   * Replaces the one-time password by one that the person chose. Refuses one that is too short. Returns false when the
   * one-time password was replaced, reset or expired since the person signed in with it.
   */
  choose(choice: PasswordChoice, by: Pick<Exchange, 'requestId' | 'address'>): Promise<boolean>;
  /** Replaces the password of a person who enters the current one. Refuses one that is too short. */
  change(
    change: PasswordChange,
    by: Pick<Exchange, 'requestId' | 'address'>,
  ): Promise<PasswordChangeResult>;
}

export interface PasswordChange {
  readonly user: User;
  readonly current: string;
  readonly chosen: string;
}

export type PasswordChangeResult =
  | { readonly kind: 'changed' }
  /** The current password is wrong. */
  | { readonly kind: 'refused' }
  | LimitedTry;

export interface PasswordChoice {
  readonly userId: UserId;
  readonly password: string;
  /** Fingerprint of the one-time password with which the person signed in. */
  readonly replaces: string;
}

export interface PasswordLogin {
  readonly email: string;
  readonly password: string;
  /** The caller's address (`http/caller-address.ts`). */
  readonly address: string;
}

export type SignInResult =
  | { readonly kind: 'known'; readonly userId: UserId }
  /** The password was a one-time password: the person must choose another. */
  | { readonly kind: 'must_choose'; readonly userId: UserId; readonly replaces: string }
  /** Unknown person, wrong or expired password. */
  | { readonly kind: 'refused' }
  | LimitedTry;

interface LimitedTry {
  readonly kind: 'limited';
  readonly retryAfterSeconds: number;
}

export interface SignInParts extends Pick<Services, 'store' | 'clock'> {
  readonly passwords: Passwords;
  readonly turns: PasswordTurns;
  readonly limits: SignInLimits;
}

export interface SignInLimits {
  /** Attempts from one network for any person. Taken first, so that a flood from one place ends here. */
  readonly perNetwork: RateLimit;
  /** Attempts for one person from one network. */
  readonly perPersonAndNetwork: RateLimit;
  /** Attempts for one person from all networks where they have not signed in: using many gains no more guesses. */
  readonly perPerson: RateLimit;
}

/** How long a caller waits when too many others wait for a turn. */
const noTurnRetrySeconds = 2;

export function createSignIn(parts: SignInParts): SignIn {
  const { store, clock, passwords, turns, limits } = parts;
  const knownNetworks = createKnownNetworks();

  /** Runs the work in a turn of the caller's network, unless the network has used up its attempts. */
  async function inTurn<T>(network: string, work: () => Promise<T>): Promise<T | LimitedTry> {
    const own = limits.perNetwork.take(network);
    if (!own.ok) return limitedTry(own.retryAfterSeconds);
    return (await turns.take(network, work)) ?? limitedTry(noTurnRetrySeconds);
  }

  /** Counts the attempt for the person. Only in a turn: what is never checked uses up nothing of theirs. */
  function countTry(email: string, network: string): LimitedTry | undefined {
    const person = keyOf(email);
    const here = limits.perPersonAndNetwork.take(`${network} ${person}`);
    // A network that has used up its own attempts does not use up the person's.
    const isCountedHere = !here.ok || knownNetworks.has(person, network);
    const allowance = isCountedHere ? here : limits.perPerson.take(person);
    return allowance.ok ? undefined : limitedTry(allowance.retryAfterSeconds);
  }

  async function check({ email, password }: PasswordLogin): Promise<SignInResult> {
    const read = readEmail(email);
    const user = read.ok ? await store.read.organizations.findUserByEmail(read.value) : undefined;
    const stored = user && (await store.read.passwords.find(user.id));
    const isLive = (stored?.expiresAt ?? Number.POSITIVE_INFINITY) > clock.now();
    const isRight = await passwords.matches(password, stored?.hash);
    if (!isRight || !isLive || stored === undefined) return { kind: 'refused' };
    const { userId } = stored;
    if (!stored.isOneTime) return { kind: 'known', userId };
    return { kind: 'must_choose', userId, replaces: fingerprintOf(stored) };
  }

  return {
    attempt(login) {
      const network = networkOf(login.address);
      return inTurn(network, async () => {
        const result = countTry(login.email, network) ?? (await check(login));
        const isRight = result.kind === 'known' || result.kind === 'must_choose';
        if (isRight) knownNetworks.add(keyOf(login.email), network);
        return result;
      });
    },

    async choose({ userId, password, replaces }, { requestId, address }) {
      const text = orRefuse(readPassword(password));
      const hash = await inTurn(networkOf(address), () => passwords.hash(text));
      if (typeof hash !== 'string') return refuse('rate_limited', hash);
      const by: Actor = { kind: 'user', id: userId, requestId, address };
      return replaceOneTimePassword(parts, { userId, hash, replaces, by });
    },

    async change({ user, current, chosen }, { requestId, address }) {
      const text = orRefuse(readPassword(chosen));
      const network = networkOf(address);
      return inTurn<PasswordChangeResult>(network, async () => {
        const refusal = countTry(user.email, network);
        if (refusal !== undefined) return refusal;
        const stored = await store.read.passwords.find(user.id);
        const isRight = await passwords.matches(current, stored?.hash);
        if (!isRight || stored === undefined) return { kind: 'refused' };
        const hash = await passwords.hash(text);
        const by: Actor = { kind: 'user', id: user.id, requestId, address };
        const request = { userId: user.id, hash, replaces: fingerprintOf(stored), by };
        return { kind: (await changePassword(parts, request)) ? 'changed' : 'refused' };
      });
    },
  };
}

const keyMaxCharacters = 254;

/** The name under which attempts on a person are counted, whether or not the person exists. */
function keyOf(email: string): string {
  return email.trim().toLowerCase().slice(0, keyMaxCharacters);
}

function limitedTry(retryAfterSeconds: number): LimitedTry {
  return { kind: 'limited', retryAfterSeconds };
}
