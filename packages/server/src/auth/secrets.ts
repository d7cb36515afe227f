import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { limits } from '@convoke/contract';
import type { Secrets } from '../ports/secrets.ts';

/**
 * 256 random bits need no slow hash, so a keyed digest is all that is stored (D-65, reliability finding
 * 11). The prefix and the checksum are for scanners of leaked secrets, which can then tell a real one
 * from a look-alike without asking us.
 */
export function createSecrets(key: Uint8Array): Secrets {
  const digest = (secret: string) => createHmac('sha256', key).update(secret).digest();
  return {
    issue() {
      const secret = withChecksum(PREFIX + base62(randomBytes(SECRET_BYTES), BODY_CHARACTERS));
      const hint = secret.slice(-limits.secretHintCharacters);
      return { secret, hmac: digest(secret).toString('base64url'), hint };
    },
    matches(secret, hmac) {
      const expected = Buffer.from(hmac, 'base64url');
      const actual = digest(secret);
      return expected.length === actual.length && timingSafeEqual(expected, actual);
    },
  };
}

/** What no secret matches: compared with when there is no credential, so that both answers take as long. */
export const UNMATCHABLE_HMAC = Buffer.alloc(32).toString('base64url');

/** Says only that the text was made by us or copied well, never that it is valid. */
export function isSecretShaped(secret: string): boolean {
  return SHAPE.test(secret) && withChecksum(secret.slice(0, -CHECKSUM_CHARACTERS)) === secret;
}

const PREFIX = 'cvk_';
const SECRET_BYTES = 32;
const BODY_CHARACTERS = limits.clientSecretCharacters;
const CHECKSUM_CHARACTERS = limits.clientSecretChecksumCharacters;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function withChecksum(text: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(text));
  return text + base62(checksum, CHECKSUM_CHARACTERS);
}

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
