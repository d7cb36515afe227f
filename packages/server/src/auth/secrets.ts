import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { limits } from '@convoke/contract';
import type { Secrets } from '../ports/secrets.ts';

/**
 * Issues secrets of one kind. 256 random bits need no slow hash, so only a keyed digest is stored (D-65). With the
 * prefix and the checksum, scanners for leaked secrets recognise a real one without asking us.
 */
export function createSecrets(key: Uint8Array, prefix: SecretPrefix = 'cvk_'): Secrets {
  const digestBytes = (secret: string) => createHmac('sha256', key).update(secret).digest();
  const digest = (secret: string) => digestBytes(secret).toString('base64url');
  return {
    issue() {
      const secret = withChecksum(prefix + base62(randomBytes(secretBytes), bodyCharacters));
      const hint = secret.slice(-limits.secretHintCharacters);
      return { secret, hmac: digest(secret), hint };
    },
    digest,
    matches(secret, hmac) {
      const expected = Buffer.from(hmac, 'base64url');
      const actual = digestBytes(secret);
      return expected.length === actual.length && timingSafeEqual(expected, actual);
    },
  };
}

/** A digest that no secret matches. It is compared when there is no credential, so that both answers take as long. */
export const unmatchableHmac = Buffer.alloc(32).toString('base64url');

/** Of a client, and of an invitation. */
type SecretPrefix = 'cvk_' | 'cvi_';
const secretBytes = 32;
const bodyCharacters = limits.clientSecretCharacters;
const checksumCharacters = limits.clientSecretChecksumCharacters;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function withChecksum(text: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(text));
  return text + base62(checksum, checksumCharacters);
}

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
