import type { UserId } from '@convoke/contract';
import { fingerprintOf, replaceOneTimePassword } from '../../app/passwords.ts';
import { orRefuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import { readEmail } from '../../domain/member.ts';
import { readPassword } from '../../domain/password.ts';
import type { RateLimit } from '../../ports/rate-limit.ts';
import type { Passwords } from '../passwords.ts';

/** Checks the password of a person. */
export interface SignIn {
  attempt(login: PasswordLogin): Promise<SignInResult>;
  /**
   * Replaces the one-time password by one that the person chose. Refuses one that is too short. Returns false when the
   * one-time password was replaced, reset or expired since the person signed in with it.
   */
  choose(choice: PasswordChoice, by: Pick<Actor, 'requestId' | 'address'>): Promise<boolean>;
}

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
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

export interface SignInParts extends Pick<Services, 'store' | 'clock'> {
  readonly passwords: Passwords;
  /** Attempts per person and address, counted before the check. */
  readonly attempts: RateLimit;
  /** Attempts per person from all addresses: using many networks gains no more guesses. */
  readonly attemptsPerPerson: RateLimit;
}

export function createSignIn(parts: SignInParts): SignIn {
  const { store, clock, passwords, attempts, attemptsPerPerson } = parts;

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
    async attempt(login) {
      const person = login.email.trim().toLowerCase().slice(0, keyMaxCharacters);
      const here = attempts.take(`${login.address} ${person}`);
      // An address that has used up its own attempts does not use up the person's.
      const anywhere = here.ok ? attemptsPerPerson.take(person) : here;
      if (anywhere.ok) return check(login);
      return { kind: 'limited', retryAfterSeconds: anywhere.retryAfterSeconds };
    },

    async choose({ userId, password, replaces }, { requestId, address }) {
      const hash = await passwords.hash(orRefuse(readPassword(password)));
      const by: Actor = { kind: 'user', id: userId, requestId, address };
      return replaceOneTimePassword(parts, { userId, hash, replaces, by });
    },
  };
}

const keyMaxCharacters = 254;
