import { describe, expect, test } from 'vitest';
import { createSecrets, isSecretShaped, unmatchableHmac } from '../../src/auth/secrets.ts';

const secrets = createSecrets(Buffer.alloc(32, 1));

describe('a client secret (D-65)', () => {
  test('has the format that scanners look for: prefix, 43 characters, 6 of checksum', () => {
    for (let round = 0; round < 200; round += 1) {
      const { secret, hint } = secrets.issue();
      expect(secret).toMatch(/^cvk_[0-9A-Za-z]{49}$/);
      expect(isSecretShaped(secret)).toBe(true);
      expect(hint).toBe(secret.slice(-4));
    }
  });

  test('with one character changed fails its checksum', () => {
    const { secret } = secrets.issue();
    for (let at = 4; at < secret.length; at += 1) {
      const other = secret[at] === 'a' ? 'b' : 'a';
      expect(isSecretShaped(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false);
    }
  });

  test('matches its own digest, under its own key, and no other', () => {
    const { secret, hmac } = secrets.issue();
    expect(secrets.matches(secret, hmac)).toBe(true);
    expect(secrets.matches(secrets.issue().secret, hmac)).toBe(false);
    expect(secrets.matches(secret, unmatchableHmac)).toBe(false);
    expect(secrets.matches(secret, '')).toBe(false);
    expect(createSecrets(Buffer.alloc(32, 2)).matches(secret, hmac)).toBe(false);
  });

  test('is never issued twice', () => {
    const issued = new Set(Array.from({ length: 1_000 }, () => secrets.issue().secret));
    expect(issued.size).toBe(1_000);
  });
});
