import { refuse } from '../../app/refusal.ts';
import type { Clock } from '../../ports/clock.ts';
import { networkOf } from '../../runtime/network-of.ts';
import { type Rate, createRateLimit } from '../../runtime/rate-limit.ts';

/** Attempts to sign in from one network, for all persons together; an office may share one. */
export const signInNetworkRate: Rate = { perMinute: 30, burst: 30 };
/** Attempts to sign in per person and network; the burst allows for typing errors. */
export const signInRate: Rate = { perMinute: 5, burst: 10 };
/** Attempts to sign in per person from all networks together, without those where the person has signed in. */
export const signInPersonRate: Rate = { perMinute: 20, burst: 40 };

/**
 * What a request to the identity provider costs its network. `start` stores a record for minutes before anyone is
 * authenticated. `code` may guess a user code, which RFC 8628 section 5.1 requires to be limited. `renew` asks for a
 * code without any page, for a browser that has a session: it stores no sign-in, and every tab of an office does it
 * (D-150). `register` stores a client for a month. `call` is any other request, among them those of terminals that poll
 * for their token.
 */
export type SignInCost = 'start' | 'code' | 'renew' | 'register' | 'call';

const rates: Readonly<Record<SignInCost, Rate>> = {
  start: { perMinute: 60, burst: 60 },
  code: { perMinute: 60, burst: 60 },
  renew: { perMinute: 600, burst: 600 },
  register: { perMinute: 5, burst: 5 },
  call: { perMinute: 300, burst: 300 },
};
/** Documents of assistants that the requests of one network make the server read (D-621). */
export const clientDocumentRate: Rate = { perMinute: 5, burst: 5 };
/** All but `call` from all networks together. */
const totalRate: Rate = { perMinute: 3_000, burst: 3_000 };

/** Returns the function that takes a request off the limits of its network, and refuses it when they are used up. */
export function createSignInLimits(clock: Clock): (cost: SignInCost, address: string) => void {
  const limits = {
    start: createRateLimit(clock, rates.start),
    code: createRateLimit(clock, rates.code),
    renew: createRateLimit(clock, rates.renew),
    register: createRateLimit(clock, rates.register),
    call: createRateLimit(clock, rates.call),
  };
  const inTotal = createRateLimit(clock, totalRate);
  return (cost, address) => {
    const own = limits[cost].take(networkOf(address));
    const allowance = own.ok && cost !== 'call' ? inTotal.take('') : own;
    if (allowance.ok) return;
    refuse('rate_limited', { retryAfterSeconds: allowance.retryAfterSeconds });
  };
}
