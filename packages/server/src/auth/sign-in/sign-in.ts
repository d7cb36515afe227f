import type { UserId } from '@convoke/contract';
import type { Passwords } from '../passwords.ts';
import { setPassword } from '../../app/passwords.ts';
import { orRefuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import { readEmail } from '../../domain/member.ts';
import { readPassword } from '../../domain/password.ts';
import type { RateLimit } from '../../ports/rate-limit.ts';

/** Whether somebody is who they say, by a password. */
export interface SignIn {
  attempt(claim: Claim): Promise<Verdict>;
  /** Puts a password of the person's own in the place of the one-time one. Refuses one that is too short. */
  choose(userId: UserId, password: string, by: Pick<Actor, 'requestId' | 'address'>): Promise<void>;
}

export interface Claim {
  readonly email: string;
  readonly password: string;
  /** Where the request came from, as far as the server can tell. */
  readonly address: string;
}

export type Verdict =
  | { readonly kind: 'known'; readonly userId: UserId }
  /** Known by a one-time password: the next step is to choose another. */
  | { readonly kind: 'must_choose'; readonly userId: UserId }
  /** Whatever was wrong. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

export interface SignInParts extends Pick<Services, 'store' | 'clock'> {
  readonly passwords: Passwords;
  /** Attempts per person and address of the network, counted before they are checked. */
  readonly attempts: RateLimit;
  /** Attempts per person from anywhere: many networks do not make many guesses. */
  readonly attemptsPerPerson: RateLimit;
}

export function createSignIn(parts: SignInParts): SignIn {
  const { store, clock, passwords, attempts, attemptsPerPerson } = parts;

  async function check({ email, password }: Claim): Promise<Verdict> {
    const read = readEmail(email);
    const user = read.ok ? await store.read.organizations.findUserByEmail(read.value) : undefined;
    const stored = user && (await store.read.passwords.find(user.id));
    const isLive = (stored?.expiresAt ?? Number.POSITIVE_INFINITY) > clock.now();
    const isRight = await passwords.matches(password, stored?.hash);
    if (!isRight || !isLive || stored === undefined) return { kind: 'refused' };
    return { kind: stored.isOneTime ? 'must_choose' : 'known', userId: stored.userId };
  }

  return {
    async attempt(claim) {
      const person = claim.email.trim().toLowerCase().slice(0, keyMaxCharacters);
      const here = attempts.take(`${claim.address} ${person}`);
      // An address that has spent its own attempts spends none of the person's.
      const anywhere = here.ok ? attemptsPerPerson.take(person) : here;
      if (anywhere.ok) return check(claim);
      return { kind: 'limited', retryAfterSeconds: anywhere.retryAfterSeconds };
    },

    async choose(userId, password, { requestId, address }) {
      const hash = await passwords.hash(orRefuse(readPassword(password)));
      const by: Actor = { kind: 'user', id: userId, requestId, address };
      await setPassword(parts, { userId, hash, isOneTime: false, by });
    },
  };
}

const keyMaxCharacters = 254;
