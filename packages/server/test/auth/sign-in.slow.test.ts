import { beforeAll, describe, expect, test } from 'vitest';
import { setPassword } from '../../src/app/people/passwords.ts';
import { createPasswordTurns } from '../../src/auth/password-turns.ts';
import { type Passwords, createPasswords } from '../../src/auth/passwords.ts';
import { type SignInResult, createSignIn } from '../../src/auth/sign-in/sign-in.ts';
import {
  signInNetworkRate,
  signInPersonRate,
  signInRate,
} from '../../src/http/sign-in/sign-in-limits.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { createRateLimit } from '../../src/runtime/rate-limit.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';

describe('attempts to sign in', () => {
  let world: IdentityFixture;
  beforeAll(async () => {
    world = await createIdentityFixture('sqlite');
  });

  const limits = (clock: Clock) => ({
    perNetwork: createRateLimit(clock, signInNetworkRate),
    perPersonAndNetwork: createRateLimit(clock, signInRate),
    perPerson: createRateLimit(clock, signInPersonRate),
  });

  /** A sign-in with the real limits and turns, whose checks last until `release`. No password is right. */
  function slowSignIn() {
    const { store, clock } = world;
    const checks: (() => void)[] = [];
    let [running, isOpen] = [0, false];
    const passwords: Passwords = {
      hash: () => Promise.resolve(''),
      async matches() {
        running += 1;
        if (!isOpen) await new Promise<void>((resolve) => checks.push(resolve));
        running -= 1;
        return false;
      },
    };
    const signIn = createSignIn({
      store,
      clock,
      passwords,
      turns: createPasswordTurns(),
      limits: limits(clock),
    });
    return {
      attempt: (email: string, address: string) =>
        signIn.attempt({ email, password: 'wrong password', address }),
      running: () => running,
      release: () => {
        isOpen = true;
        for (const finish of checks) finish();
      },
    };
  }
  const kinds = (results: readonly SignInResult[]) => {
    const count = (kind: string) => results.filter((result) => result.kind === kind).length;
    return { refused: count('refused'), limited: count('limited') };
  };

  test('that find no turn use up nothing of the person', async () => {
    const { attempt, release } = slowSignIn();
    const flood = Array.from({ length: 60 }, (_, n) => attempt('ann@x.example', `192.0.2.${n}`));
    // Two are checked and thirty-two wait. The others are turned away while none of these has ended.
    const away = await Promise.all(flood.slice(34));
    expect(kinds(away)).toEqual({ refused: 0, limited: 26 });
    release();
    expect(kinds(await Promise.all(flood))).toEqual({ refused: 34, limited: 26 });
    const later: SignInResult[] = [];
    for (let n = 0; n < 10; n += 1) later.push(await attempt('ann@x.example', `198.51.100.${n}`));
    // The person's limit is forty, of which thirty-four were checked.
    expect(kinds(later)).toEqual({ refused: 6, limited: 4 });
  });

  test('from many networks do not keep a person out of one where they have signed in', async () => {
    const { store, clock, seed } = world;
    const passwords = createPasswords();
    const userId = await seed.person(await seed.organization(), 'owner');
    const hash = await passwords.hash('the right password');
    await setPassword({ store, clock }, { userId, hash, isOneTime: false, by });
    const signIn = createSignIn({
      store,
      clock,
      passwords,
      turns: createPasswordTurns(),
      limits: limits(clock),
    });
    const attempt = (password: string, address: string) =>
      signIn.attempt({ email: `${userId}@test`, password, address });
    const guesses = async (count: number, addressOf: (n: number) => string) => {
      const results: SignInResult[] = [];
      for (let n = 0; n < count; n += 1) results.push(await attempt('a guess', addressOf(n)));
      return kinds(results);
    };
    const [home, elsewhere] = ['203.0.113.1', '203.0.113.2'];

    expect((await attempt('the right password', home)).kind).toBe('known');
    expect(await guesses(60, (n) => `192.0.2.${n}`)).toEqual({ refused: 39, limited: 21 });
    expect((await attempt('the right password', elsewhere)).kind).toBe('limited');
    expect((await attempt('the right password', home)).kind).toBe('known');
    // Guesses from there are bounded anyway: ten attempts at once, of which two were the person's.
    expect(await guesses(10, () => home)).toEqual({ refused: 8, limited: 2 });
  });

  test('of one network leave turns for the others', async () => {
    const { attempt, running, release } = slowSignIn();
    const flood = Array.from({ length: 30 }, (_, n) => attempt(`y${n}@x.example`, '192.0.2.1'));
    const away = await Promise.all(flood.slice(5));
    expect(kinds(away)).toEqual({ refused: 0, limited: 25 });
    const other = attempt('ann@x.example', '192.0.2.2');
    await expect.poll(running).toBe(2);
    release();
    expect((await other).kind).toBe('refused');
    expect(kinds(await Promise.all(flood))).toEqual({ refused: 5, limited: 25 });
  });

  test('for ever new persons do not restore the attempts on another, from the same network', async () => {
    const { attempt, release } = slowSignIn();
    release();
    const guess = (n: number) => attempt('ann@x.example', `2001:db8:1:2::${n.toString(16)}`);
    const first: SignInResult[] = [];
    for (let n = 0; n < 11; n += 1) first.push(await guess(n));
    expect(kinds(first)).toEqual({ refused: 10, limited: 1 });
    const others: SignInResult[] = [];
    for (let n = 0; n < 11_000; n += 1) {
      others.push(await attempt(`y${n}@x.example`, '2001:db8:1:2:ffff::1'));
    }
    expect(kinds(others)).toEqual({ refused: 19, limited: 10_981 });
    expect((await guess(99)).kind).toBe('limited');
  });
});
