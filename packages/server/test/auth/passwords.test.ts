import { argon2Sync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createPasswordTurns } from '../../src/auth/password-turns.ts';
import { createPasswords, makeOneTimePassword } from '../../src/auth/passwords.ts';
import { readPassword } from '../../src/domain/people/password.ts';

describe('passwords', () => {
  const passwords = createPasswords();

  test('are stored as argon2id, each with its own salt', async () => {
    const [one, other] = await Promise.all([
      passwords.hash('secret text'),
      passwords.hash('secret text'),
    ]);
    expect(one).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
    expect(one).not.toBe(other);
    expect(await passwords.matches('secret text', one)).toBe(true);
    expect(await passwords.matches('secret texT', one)).toBe(false);
    expect(await passwords.matches('', one)).toBe(false);
  });

  test('match in every Unicode composition', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait');
    expect(await passwords.matches('cafe\u0301 au lait', hash)).toBe(true);
  });

  test('never match when none is stored', async () => {
    expect(await passwords.matches('anything', undefined)).toBe(false);
  });

  test('are checked with the cost they were hashed with', async () => {
    const salt = Buffer.from('somesalt');
    const cost = { parallelism: 1, tagLength: 24, memory: 64, passes: 1 };
    const tag = argon2Sync('argon2id', { message: 'password', nonce: salt, ...cost });
    const [a, b] = [salt, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
    const older = `$argon2id$v=19$m=64,t=1,p=1$${a}$${b}`;
    expect(await passwords.matches('password', older)).toBe(true);
    expect(await passwords.matches('passwort', older)).toBe(false);
    await expect(passwords.matches('password', '$2b$10$x')).rejects.toThrow(/PHC/);
  });

  test('need at least twelve characters and nothing else', () => {
    for (const text of [
      'a'.repeat(12),
      'пароль пароль',
      '🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊',
      'x'.repeat(256),
    ]) {
      expect(readPassword(text).ok).toBe(true);
    }
    for (const text of ['', 'a'.repeat(11), '🦊🦊🦊🦊🦊🦊', 'x'.repeat(257)]) {
      expect(readPassword(text)).toMatchObject({ ok: false, code: 'invalid_body' });
    }
  });

  test('for one-time use are easy to read out and never repeat', () => {
    const made = new Set(Array.from({ length: 1_000 }, makeOneTimePassword));
    expect(made.size).toBe(1_000);
    for (const text of made) expect(text).toMatch(/^([a-hjkmnp-z2-9i]{4}-){4}[a-hjkmnp-z2-9i]{4}$/);
  });
});

describe('turns for hashing', () => {
  /** Lets everything run that is due. */
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Work that runs until it is released. */
  function held() {
    const released: (() => void)[] = [];
    let running = 0;
    const work = async () => {
      running += 1;
      await new Promise<void>((resolve) => released.push(resolve));
      running -= 1;
      return true;
    };
    const releaseAll = async (answers: Promise<unknown>) => {
      let isDone = false;
      void answers.finally(() => (isDone = true));
      while (!isDone) {
        released.shift()?.();
        await turn();
      }
      return answers;
    };
    return { work, running: () => running, releaseAll };
  }

  test('are two at a time for all networks and one for each; a few more wait, a flood is refused', async () => {
    const turns = createPasswordTurns();
    const { work, running, releaseAll } = held();
    const own = Array.from({ length: 10 }, () => turns.take('a', work));
    await turn();
    expect(running()).toBe(1);
    const others = Array.from({ length: 60 }, (_, count) => turns.take(`other ${count}`, work));
    await turn();
    expect(running()).toBe(2);
    const answers = await releaseAll(Promise.all([...own, ...others]));
    const count = (list: unknown) => (list as unknown[]).filter((one) => one === true).length;
    expect(count((answers as unknown[]).slice(0, 10))).toBe(5);
    // Two work and thirty-two wait, four of them from the first network.
    expect(count(answers)).toBe(34);
    expect(running()).toBe(0);
  });

  test('pass a network that works already', async () => {
    const turns = createPasswordTurns();
    const order: string[] = [];
    const noted = (name: string) => async () => void order.push(name);
    const first = held();
    const a = turns.take('a', first.work);
    const waiting = [turns.take('a', noted('a')), turns.take('b', noted('b'))];
    await waiting[1];
    expect(order).toEqual(['b']);
    await first.releaseAll(a);
    await Promise.all(waiting);
    expect(order).toEqual(['b', 'a']);
  });

  test('are given back after an error', async () => {
    const turns = createPasswordTurns();
    const fail = () => Promise.reject(new Error('no'));
    for (let count = 0; count < 5; count += 1) {
      await expect(turns.take('a', fail)).rejects.toThrow('no');
    }
    expect(await turns.take('a', async () => 1)).toBe(1);
  });
});
