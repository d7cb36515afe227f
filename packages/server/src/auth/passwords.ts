import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * Hashes the passwords of people with argon2id and a salt each (RFC 9106). A hash is expensive: for requests, take a
 * turn first (`password-turns.ts`).
 */
export interface Passwords {
  /** Returns the PHC string format, which includes the parameters of the hash. */
  hash(password: string): Promise<string>;
  /** Without a hash the check takes as long, and returns false. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

/** OWASP's smaller setting: 19 MiB and two passes, about 50 ms. */
const argon2Cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagBytes = 32;
const saltBytes = 16;

export function createPasswords(): Passwords {
  /** A hash that no password matches: without a stored one the check takes as long. */
  const unmatchable = phc({
    ...argon2Cost,
    salt: randomBytes(saltBytes),
    tag: randomBytes(tagBytes),
  });
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const tag = await derive(password, { ...argon2Cost, salt, tagLength: tagBytes });
      return phc({ ...argon2Cost, salt, tag });
    },
    async matches(password, hash) {
      const made = parsePhc(hash ?? unmatchable);
      if (made === undefined) throw new Error('a stored password is not in the PHC format');
      const { salt, tag, ...cost } = made;
      const request = { ...cost, salt, tagLength: tag.length };
      const given = await derive(password, request);
      return timingSafeEqual(given, tag) && hash !== undefined;
    },
  };
}

type DeriveRequest = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism' | 'tagLength'> & {
  readonly salt: Buffer;
};

const argon2Async = promisify(argon2);

function derive(password: string, { salt, ...cost }: DeriveRequest): Promise<Buffer> {
  return argon2Async('argon2id', { message: password.normalize('NFC'), nonce: salt, ...cost });
}

interface HashParts {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function phc({ memory, passes, parallelism, salt, tag }: HashParts): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(tag)}`;
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parsePhc(text: string): HashParts | undefined {
  const [, memory, passes, parallelism, salt, tag] = phcPattern.exec(text) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** Without characters that are easily confused. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const groups = 5;
const groupCharacters = 4;

/** Returns a hundred random bits, in groups that are easy to read out and to type. */
export function makeOneTimePassword(): string {
  const letters = Array.from(randomBytes(groups * groupCharacters), (byte) => alphabet[byte % 32]);
  return Array.from({ length: groups }, (_, group) =>
    letters.slice(group * groupCharacters, (group + 1) * groupCharacters).join(''),
  ).join('-');
}
