import { argon2Sync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import { createPasswords, makeOneTimePassword } from '../../src/auth/passwords.ts';
import { readPassword } from '../../src/domain/password.ts';

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

  test('are checked a few at a time, and a flood gets rate_limited', async () => {
    const hash = await passwords.hash('secret text');
    const attempts = Array.from({ length: 60 }, () => passwords.matches('wrong', hash));
    const answers = await Promise.allSettled(attempts);
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused).toHaveLength(60 - 34);
    for (const { reason } of refused) {
      expect(reason).toBeInstanceOf(Refusal);
      expect(reason).toMatchObject({ code: 'rate_limited' });
    }
    expect(await passwords.matches('secret text', hash)).toBe(true);
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
