import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createSecrets, unmatchableHmac } from '../../src/auth/secrets.ts';

const secrets = createSecrets(Buffer.alloc(32, 1));

/** CRC-32 in base 62, as a scanner for leaked secrets computes it. */
function checksum(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let rest = crc32(text);
  return Array.from({ length: 6 }, () => {
    const digit = digits.charAt(rest % 62);
    rest = Math.floor(rest / 62);
    return digit;
  })
    .reverse()
    .join('');
}

describe('a client secret (D-65)', () => {
  test('has the format that scanners look for: prefix, 43 characters, 6 of checksum', () => {
    for (let round = 0; round < 200; round += 1) {
      const { secret, hint } = secrets.issue();
      expect(secret).toMatch(/^cvk_[0-9A-Za-z]{49}$/);
      expect(secret.slice(-6)).toBe(checksum(secret.slice(0, -6)));
      expect(hint).toBe(secret.slice(-4));
    }
  });

  test('with one character changed fails its checksum', () => {
    const { secret } = secrets.issue();
    for (let at = 4; at < secret.length; at += 1) {
      const other = secret[at] === 'a' ? 'b' : 'a';
      const changed = secret.slice(0, at) + other + secret.slice(at + 1);
      expect(changed.slice(-6)).not.toBe(checksum(changed.slice(0, -6)));
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
